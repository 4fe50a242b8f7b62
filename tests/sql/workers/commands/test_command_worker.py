from __future__ import annotations

import json
from datetime import timedelta

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, NotFound, WrongState
from tests.sql.workers.commands.test_wake_idle_workers import heard
from tests.support.sql_fleet import command, command_state, heard_commands
from tests.support.sql_waits import freeze, frozen
from tests.support.sql_worker import SqlWorker, frozen_worker


async def test_a_worker_is_notified_and_hears_its_commands_in_their_order_until_it_acknowledges_them(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register()
    await SqlWorker(database, "other").register()

    async def tell() -> None:
        await command(database, "w1", "set_concurrency", slots=5)
        await command(database, "w1", "pause")

    assert await heard(database, tell) == [f"command:{worker.incarnation}"] * 2
    for _ in range(2):
        commands = await heard_commands(database, worker.incarnation)
        assert commands == [(1, "set_concurrency", {"slots": 5}), (2, "pause", {})]
    assert await command_state(database, 1) == "received"
    await database.call("acknowledge_command", worker.incarnation, 1)
    assert [number for number, _, _ in await heard_commands(database, worker.incarnation)] == [2]


async def test_what_a_worker_did_not_hear_in_time_it_never_hears(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await worker.register()
        await connection.call("command_worker", "w1", "pause", "{}", timedelta(seconds=60))
        assert await command_state(connection, 1) == "pending"
        await freeze(connection, "2026-03-01 12:01Z")
        assert await command_state(connection, 1) == "expired"
        assert await heard_commands(connection, worker.incarnation) == []


async def test_a_command_expires_with_its_worker(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        stopped, silent, fit = (SqlWorker(connection, name) for name in ("stopped", "silent", "fit"))
        for number, each in enumerate((stopped, silent, fit), 1):
            await each.register()
            assert await command(connection, each.name, "pause") == number
            await heard_commands(connection, each.incarnation)
        await connection.call("stop_worker", stopped.incarnation)
        await freeze(connection, "2026-03-01 12:03:01Z")
        await heard_commands(connection, fit.incarnation)
        assert [await command_state(connection, number) for number in (1, 2, 3)] == ["expired", "expired", "received"]


async def test_the_dead_and_the_unknown_are_not_told_anything(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        with pytest.raises(NotFound, match="there is no worker nobody"):
            await command(connection, "nobody", "pause")
        await freeze(connection, "2026-03-01 12:00Z")
        stopped, silent = SqlWorker(connection, "stopped"), SqlWorker(connection, "silent")
        await stopped.register()
        await silent.register()
        await connection.call("stop_worker", stopped.incarnation)
        await freeze(connection, "2026-03-01 12:04Z")
        with pytest.raises(WrongState, match="worker stopped has ended at 2026-03-01 12:00:00"):
            await command(connection, "stopped", "pause")
        with pytest.raises(WrongState, match=r"silent was last heard of at 2026-03-01 12:00:00.* and is probably dead"):
            await command(connection, "silent", "pause")
        with pytest.raises(NotFound, match="there is no worker nobody"):
            await command(connection, "nobody", "pause")
        assert await connection.fetch("select from leasehold.worker_commands") == []


REFUSED: list[tuple[str | None, object, str]] = [
    ("explode", {}, "there is no command 'explode'"),
    (None, {}, "there is no command null"),
    ("pause", [], "args must be a JSON object"),
    ("pause", {"slots": 1}, "pause does not take slots: 1"),
    ("set_concurrency", {}, "set_concurrency needs slots"),
    ("set_concurrency", {"slots": 0}, "set_concurrency does not take slots: 0"),
    ("set_concurrency", {"slots": 10_001}, "does not take slots: 10001"),
    ("set_concurrency", {"slots": 1.5}, "does not take slots: 1.5"),
    ("set_concurrency", {"slots": "5"}, "does not take slots: 5"),
    ("cancel_job", {}, "cancel_job needs job_id"),
    ("cancel_job", {"job_id": 10**30}, "does not take job_id"),
    ("dump_stacks", {"job_id": None}, "does not take job_id"),
]


async def test_what_nobody_could_carry_out_is_refused(database: Database, worker: SqlWorker) -> None:
    for name, args, message in REFUSED:
        await worker.register()
        with pytest.raises(BadInput, match=message):
            await database.call("command_worker", "w1", name, json.dumps(args))


async def test_a_command_is_valid_for_some_time(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    with pytest.raises(BadInput, match="valid_for must be more than 0 seconds"):
        await database.call("command_worker", "w1", "pause", "{}", timedelta(0))
