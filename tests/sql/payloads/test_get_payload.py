from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_payloads import add


async def test_a_payload_is_read_until_it_expires(database: Database) -> None:
    payload_id = await add(database)
    [row] = await database.call("get_payload", payload_id)
    assert row["id"] == payload_id
    await database.call("expire_payloads", [payload_id])
    assert await database.call("get_payload", payload_id) == []
