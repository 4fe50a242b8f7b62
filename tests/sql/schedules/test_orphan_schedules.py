from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_schedules import create, definition, schedule


async def declare(database: Database, app: str, *names: str) -> list[str]:
    for name in names:
        await database.call("declare_schedule", definition(name), "code", app)
    return [row[0] for row in await database.call("orphan_schedules", app, names)]


async def standing(database: Database, name: str) -> tuple[str | None, bool]:
    row = await schedule(database, name)
    return row["declared_by"], row["orphaned_at"] is not None


async def test_a_schedule_that_its_app_declares_no_more_is_marked_once_and_goes_on(database: Database) -> None:
    assert await declare(database, "shop:app", "a", "b") == []
    assert await declare(database, "shop:app", "a") == ["b"]
    assert await declare(database, "shop:app", "a") == []
    assert await standing(database, "a") == ("shop:app", False)
    assert await standing(database, "b") == ("shop:app", True)
    assert (await schedule(database, "b"))["enabled"]
    assert await declare(database, "shop:app") == ["a"]


async def test_the_mark_goes_when_it_is_declared_again(database: Database) -> None:
    await declare(database, "shop:app", "a")
    await declare(database, "shop:app")
    assert await declare(database, "shop:app", "a") == []
    assert await standing(database, "a") == ("shop:app", False)


async def test_apps_leave_each_others_schedules_alone_and_may_hand_one_over(database: Database) -> None:
    await declare(database, "shop:app", "a", "b")
    assert await declare(database, "mail:app", "c") == []
    assert await declare(database, "mail:app", "b", "c") == []
    assert await standing(database, "b") == ("shop:app", False)
    assert await declare(database, "shop:app", "a") == ["b"]
    assert await declare(database, "mail:app", "b", "c") == []
    assert await standing(database, "b") == ("mail:app", False)
    assert await declare(database, "shop:app", "a", "b") == []
    assert await standing(database, "b") == ("mail:app", False)


async def test_a_schedule_made_by_hand_is_never_marked(database: Database) -> None:
    await create(database, "a")
    assert await declare(database, "shop:app", "b") == []
    assert [row[0] for row in await database.call("orphan_schedules", "shop:app", ["a", "b"])] == []
    assert await standing(database, "a") == (None, False)


async def test_marking_is_no_change_of_the_definition(database: Database) -> None:
    await declare(database, "shop:app", "a")
    await declare(database, "shop:app")
    row = await schedule(database, "a")
    assert (row["revision"], row["overridden"]) == (1, [])
