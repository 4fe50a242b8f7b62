from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_payloads import add


async def test_it_tells_where_the_content_lies_and_tells_it_again(database: Database) -> None:
    payload_id = await add(database, location="a/b.gz")
    for _ in range(2):
        [row] = await database.call("expire_payloads", [payload_id, 9999])
        assert (row["payload_id"], row["location"]) == (payload_id, "a/b.gz")
