from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_schedules import change, create, schedule, set_plan
from tests.support.sql_waits import open_transaction

FIRST, SECOND = "2030-01-01 12:00Z", "2030-01-01 13:00Z"


async def test_whoever_comes_first_plans_it(database: Database) -> None:
    row = await create(database)
    assert await set_plan(database, row, FIRST) == 1
    assert await set_plan(database, row, SECOND) == 0
    now = await schedule(database)
    assert (now["next_run_at"].hour, now["planned_revision"], now["last_error"]) == (12, 1, None)


async def test_a_plan_for_an_older_definition_is_worth_nothing(database: Database) -> None:
    row = await create(database)
    changed = await change(database, every=5)
    assert await set_plan(database, row, FIRST) == 0
    assert await set_plan(database, changed, SECOND) == 1


async def test_one_that_cannot_be_planned_says_why_until_it_is_changed(database: Database) -> None:
    await set_plan(database, await create(database, cron="61 * * * *"), None, "bad minute")
    row = await schedule(database)
    assert (row["next_run_at"], row["last_error"]) == (None, "bad minute")
    assert await database.call("list_due_schedules") == []
    assert (await change(database, cron="1 * * * *"))["last_error"] is None
    assert len(await database.call("list_due_schedules")) == 1


async def test_one_that_somebody_is_changing_is_left_for_later(database: Database) -> None:
    row = await create(database)
    async with open_transaction(database, "other") as other:
        await other.call("find_schedule", "s", True)
        assert await set_plan(database, row, FIRST) == 0
