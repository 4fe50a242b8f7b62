from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_identities import add, take


async def test_each_state_that_there_is_is_counted(database: Database) -> None:
    assert await database.call("count_identities") == []
    for name in ("a", "b", "c"):
        await add(database, name)
    await take(database)
    rows = await database.call("count_identities")
    assert {row["state"]: row["identities"] for row in rows} == {"leased": 1, "ready": 2}
