from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_waits import freeze


async def test_the_newest_come_first_and_pages_go_on_where_the_last_one_ended(database: Database) -> None:
    ids = [await database.call_value("write_audit", "ops", None, f"act {n}") for n in range(5)]
    page = [row["id"] for row in await database.call("list_audit", page_size=2)]
    rest = [row["id"] for row in await database.call("list_audit", before_id=page[-1])]
    assert page + rest == ids[::-1]


async def test_it_can_be_asked_for_one_actor_one_kind_of_act_and_from_a_time_on(database: Database) -> None:
    async with database.transaction() as transaction:
        await freeze(transaction, "2026-01-01 00:00:00+00")
        await transaction.call("write_audit", "ada", None, "POST /api/jobs/cancel")
        await freeze(transaction, "2026-01-02 00:00:00+00")
        await transaction.call("write_audit", "bob", None, "PUT /api/limits")

    async def actors(**which: object) -> list[str]:
        return [row["actor"] for row in await database.call("list_audit", timeout=None, **which)]

    assert await actors(actor="ada") == ["ada"]
    assert await actors(action="PUT ") == ["bob"]
    [row] = await database.fetch("select count(*) as n from leasehold.list_audit(since => '2026-01-01 12:00:00+00')")
    assert row["n"] == 1
