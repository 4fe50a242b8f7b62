from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_kinds import ORDER, declare


async def test_the_plan_counts_every_row_before_and_after(tasks: Database) -> None:
    await tasks.execute(
        "insert into worker_tasks (role, status) values ('store_discovery', 'pending'), ('store_discovery', 'stale'),"
        " ('store_discovery', 'completed');"
        "insert into task_schedules (name, role, interval_hours) values ('a', 'store_discovery', 1), ('b', 'store_discovery', 0)"
    )
    before = {(row["state"], row["means"]): row for row in await tasks.call("plan_move")}
    assert {what: row["row_count"] for what, row in before.items()} == {
        ("pending", "pending"): 1,
        ("stale", "pending"): 1,
        ("completed", "completed"): 1,
        ("schedule", "pending"): 2,
    }
    await tasks.call("seal_source")
    await tasks.call("move_jobs")
    await tasks.call("move_schedules")
    after = [(row["source_table"], row["means"], row["row_count"]) for row in await tasks.call("plan_move")]
    assert sorted(after) == [
        ("public.task_schedules", "moved", 1),
        ("public.task_schedules", "pending", 1),
        ("public.worker_tasks", "completed", 1),
        ("public.worker_tasks", "moved", 2),
    ]


async def test_a_state_that_the_mapping_does_not_know_stands_out(tasks: Database) -> None:
    await tasks.execute("alter type task_status add value 'parked'")
    await tasks.execute("insert into worker_tasks (role, status) values ('store_discovery', 'parked')")
    [row] = await tasks.call("plan_move")
    assert (row["state"], row["means"], row["row_count"]) == ("parked", None, 1)


async def test_args_that_the_catalogue_refuses_are_told_with_the_reason(tasks: Database) -> None:
    await declare(tasks, {"kind": "product_resync", "args_schema": ORDER})
    await tasks.execute(
        "insert into worker_tasks (role, dispensary_id) values ('product_resync', 1), ('store_discovery', 2)"
    )
    [_, refused] = await tasks.call("plan_move")
    assert (refused["means"], refused["row_count"], refused["refused"]) == ("refused", 1, 1)
    assert refused["complaint"].startswith("args do not fit product_resync")
