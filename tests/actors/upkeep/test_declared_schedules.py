"""Schedules that stand in code, as a scheduler brings them into the database when it starts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from leasehold.actors.upkeep.scheduler import declare_schedules
from leasehold.app import App
from leasehold.client import Client
from leasehold.database import Database


def app_with(**every: float) -> App:
    app = App()

    @app.kind()
    async def greet(name: str = "Ada") -> str:
        return name

    for name, seconds in every.items():
        app.schedule(greet, name=name, every=timedelta(seconds=seconds))
    return app


async def start(database: Database, app: App, by: str | None = "shop:app") -> dict[str, Any]:
    """Start a scheduler and end it; returns how each schedule stands then."""
    async with database.reserve("scheduler") as connection:
        await declare_schedules(connection, app.schedules, by)
    return {each.name: each for each in await Client(database).schedules.list()}


async def test_the_code_makes_its_schedules_and_brings_them_up_to_date(database: Database) -> None:
    first = await start(database, app_with(a=60, b=60))
    assert (first["a"].every, first["a"].declared_by, first["a"].updated_by) == (60, "shop:app", "code")
    again = await start(database, app_with(a=60, b=90))
    assert again["a"] == first["a"]
    assert (again["b"].every, again["b"].revision) == (90, 2)


async def test_what_an_operator_changed_stays_field_by_field(database: Database) -> None:
    await start(database, app_with(a=60))
    await Client(database).schedules.update("a", every=5, description="faster")
    later = (await start(database, app_with(a=90)))["a"]
    assert (later.every, later.description, later.declared and later.declared["every"]) == (5, "faster", 90)
    assert (await Client(database).schedules.reset("a")).every == 90


async def test_one_that_vanished_from_the_code_is_an_orphan_and_not_deleted(database: Database) -> None:
    await start(database, app_with(a=60, b=60))
    later = await start(database, app_with(a=60))
    assert (later["a"].orphaned_at, later["b"].enabled) == (None, True)
    assert later["b"].orphaned_at is not None
    assert (await start(database, app_with(b=60)))["b"].orphaned_at is None


async def test_two_apps_keep_their_hands_off_each_other_and_say_how_to_part(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    before = await start(database, app_with(cleanup=60), "billing:app")
    assert (await start(database, app_with(cleanup=5, mine=5), "mailer:app"))["cleanup"] == before["cleanup"]
    [warning] = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert "schedule 'cleanup' is declared by the app billing:app too" in warning
    way_out = warning.partition("run ")[2].partition(" and start")[0]
    assert way_out == "select leasehold.orphan_schedules('billing:app', '{}')"
    caplog.clear()
    assert (await start(database, app_with(cleanup=60), "billing:app"))["cleanup"] == before["cleanup"]
    assert caplog.records == []

    await database.fetch(way_out)
    after = (await start(database, app_with(cleanup=5, mine=5), "mailer:app"))["cleanup"]
    assert (after.id, after.every, after.declared_by) == (before["cleanup"].id, 5, "mailer:app")
    assert after.orphaned_at is None


async def test_a_scheduler_without_an_app_orphans_nothing(database: Database) -> None:
    await start(database, app_with(a=60))
    assert (await start(database, App(), None))["a"].orphaned_at is None
