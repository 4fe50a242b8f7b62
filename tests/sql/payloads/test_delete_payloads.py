from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_payloads import add


async def test_only_hidden_payloads_are_removed(database: Database) -> None:
    hidden, shown = await add(database), await add(database)
    await database.call("expire_payloads", [hidden])
    assert await database.call_value("delete_payloads", [hidden, shown]) == 1
    assert [row["id"] for row in await database.fetch("select id from leasehold.payloads")] == [shown]
