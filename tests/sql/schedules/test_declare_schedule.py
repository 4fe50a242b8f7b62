from __future__ import annotations

from typing import Any

import pytest
import trio

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.sql.workers.commands.test_wake_idle_workers import heard
from tests.support.sql_schedules import change, create, definition, schedule


async def declare(database: Database, **fields: Any) -> str:
    [row] = await database.call("declare_schedule", definition(**fields), "code")
    assert row["name"] == "s"
    return row["outcome"]


async def test_it_is_made_once_and_changed_when_the_code_changes(database: Database) -> None:
    assert await declare(database, every=60) == "created"
    assert await heard(database, lambda: declare(database, every="PT1M")) == []
    assert await declare(database, every=90) == "updated"
    row = await schedule(database)
    assert (row["every"], row["revision"], row["updated_by"]) == (90, 2, "code")


async def test_what_an_operator_changed_stays(database: Database) -> None:
    await declare(database, cron="@daily", priority=1, args={"a": 1})
    await change(database, priority=5, every=10)
    assert await declare(database, cron="@hourly", priority=2, args={"a": 2}) == "updated"
    row = await schedule(database)
    assert (row["priority"], row["every"], row["cron"], row["args"]) == (5, 10, None, '{"a": 2}')
    assert row["overridden"] == ["at", "cron", "every", "priority"]


async def test_a_disabled_schedule_stays_disabled(database: Database) -> None:
    await declare(database)
    await database.call("disable_schedule", "s")
    await declare(database, args={"new": True})
    assert not (await schedule(database))["enabled"]


async def test_what_is_declared_no_more_becomes_the_default(database: Database) -> None:
    await declare(database, key="k", stagger=60)
    assert await declare(database) == "updated"
    row = await schedule(database)
    assert (row["key"], row["stagger"]) == (None, 0)


async def test_a_schedule_made_by_hand_becomes_a_declared_one(database: Database) -> None:
    await create(database, priority=9)
    assert await declare(database, priority=1) == "updated"
    assert (await schedule(database))["priority"] == 1


async def test_any_number_of_processes_may_declare_it_at_once(database: Database) -> None:
    outcomes: list[str] = []

    async def one() -> None:
        outcomes.append(await declare(database))

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(one)
    assert sorted(outcomes) == ["created", *["unchanged"] * 4]


async def declare_of(database: Database, app: str | None, **fields: Any) -> tuple[str, str | None]:
    [row] = await database.call("declare_schedule", definition(**fields), "code", app)
    return row["outcome"], row["declared_by"]


async def test_what_another_app_declares_is_left_alone(database: Database) -> None:
    assert await declare_of(database, "billing:app", every=60) == ("created", "billing:app")
    before = await schedule(database)
    assert before["declared_by"] == "billing:app"
    assert await declare_of(database, "mailer:app", every=5) == ("foreign", "billing:app")
    assert await declare_of(database, "mailer:app", every=60) == ("foreign", "billing:app")
    assert await schedule(database) == before
    assert await declare_of(database, "billing:app", every=90) == ("updated", "billing:app")


async def test_an_orphan_is_taken_over_with_what_an_operator_changed(database: Database) -> None:
    await declare_of(database, "old.name:app", priority=1)
    await change(database, priority=5)
    assert [row[0] for row in await database.call("orphan_schedules", "old.name:app", [])] == ["s"]
    assert await declare_of(database, "new.name:app", priority=2, stagger=7) == ("updated", "new.name:app")
    row = await schedule(database)
    assert (row["priority"], row["stagger"], row["declared_by"], row["orphaned_at"]) == (5, 7, "new.name:app", None)
    assert await declare_of(database, "old.name:app") == ("foreign", "new.name:app")


async def test_what_nobody_declares_belongs_to_the_app_that_does(database: Database) -> None:
    await create(database)
    assert await declare_of(database, None) == ("updated", None)
    assert await declare_of(database, "billing:app") == ("unchanged", "billing:app")
    assert await declare_of(database, None, every=5) == ("updated", "billing:app")


async def test_two_apps_that_declare_it_at_once_do_not_share_it(database: Database) -> None:
    outcomes: list[str] = []

    async def one(app: str) -> None:
        outcomes.append((await declare_of(database, app))[0])

    async with trio.open_nursery() as nursery:
        for app in ("a:app", "b:app", "c:app"):
            nursery.start_soon(one, app)
    assert sorted(outcomes) == ["created", "foreign", "foreign"]


async def test_what_is_no_schedule_is_refused(database: Database) -> None:
    with pytest.raises(BadInput, match="every must be from 1 second"):
        await declare(database, every=0)
