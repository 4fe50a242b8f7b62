from __future__ import annotations

import json
from uuid import uuid4

from leasehold.database import Database
from tests.support.sql_fleet import command, command_state
from tests.support.sql_worker import SqlWorker


async def test_a_command_is_done_with_its_result_or_has_failed_with_its_error(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register()
    done, failed = [await command(database, "w1", "dump_stacks") for _ in range(2)]
    assert (
        await database.call_value("acknowledge_command", worker.incarnation, done, json.dumps({"stacks": []})) is True
    )
    await database.call("acknowledge_command", worker.incarnation, failed, error="no such job")
    rows = await database.call("list_commands", "w1")
    assert [(row["id"], row["state"], row["result"], row["error"]) for row in rows] == [
        (failed, "failed", None, "no such job"),
        (done, "done", '{"stacks": []}', None),
    ]
    assert all(row["received_at"] <= row["done_at"] for row in rows)


async def test_the_first_acknowledgement_stays_and_nobody_else_may_give_it(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register()
    number = await command(database, "w1", "pause")
    assert await database.call_value("acknowledge_command", uuid4(), number) is False
    assert await command_state(database, number) == "pending"
    assert await database.call_value("acknowledge_command", worker.incarnation, number) is True
    assert await database.call_value("acknowledge_command", worker.incarnation, number, error="late") is False
    assert await command_state(database, number) == "done"
    assert await database.call_value("acknowledge_command", worker.incarnation, 999) is False
