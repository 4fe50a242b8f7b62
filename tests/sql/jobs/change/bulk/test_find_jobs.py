"""The four functions that change all that match find the same jobs by the same filters, those that list_jobs knows as it does."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_jobs import empty, enqueue, job
from tests.support.sql_waits import freeze, rolled_back
from tests.support.sql_worker import SqlWorker

NOON, ONE, TWO = (datetime(2026, 3, 1, hour, tzinfo=UTC) for hour in (12, 13, 14))
FINAL = ("retry_jobs", "delete_jobs")
FUNCTIONS = ("cancel_jobs", "retry_jobs", "delete_jobs", "trigger_scheduled_jobs")
WAIT = timedelta(days=10)

Cases = Mapping[str, tuple[dict[str, Any], set[int]]]
LISTED: Cases = {
    "nothing": ({}, {1, 2, 3}),
    "queue": ({"queue": "q"}, {2}),
    "kind": ({"kind": "b"}, {2, 3}),
    "key": ({"key": "k"}, {2}),
    "args": ({"args": '{"shop": 7}'}, {1, 3}),
    "args at depth": ({"args": '{"card": {"last": 1}}'}, {2}),
    "args that nobody has": ({"args": '{"shop": "7"}'}, set()),
    "metadata": ({"metadata": '{"state": "AZ"}'}, {2, 3}),
    "worker": ({"worker_id": "first"}, {1}),
    "worker by its friendly name": ({"worker_id": "tidy-magpie"}, {2, 3}),
    "worker by the beginning of it": ({"worker_id": "tidy"}, set()),
    "worker that nobody knows": ({"worker_id": "third"}, set()),
    "several": ({"args": '{"shop": 7}', "worker_id": "second"}, {3}),
    "from then on": ({"created_after": ONE}, {2, 3}),
    "before then": ({"created_before": ONE}, {1}),
    "between": ({"created_after": ONE, "created_before": TWO}, {2}),
    "later ids": ({"after_id": 1}, {2, 3}),
}
OWN: Mapping[str, Cases] = {
    "cancel_jobs": {"state": ({"state": "scheduled"}, {1, 2, 3}), "another": ({"state": "pending"}, set())},
    "retry_jobs": {
        "state": ({"state": "failed"}, {1, 2, 3}),
        "another": ({"state": "cancelled"}, set()),
        "ended from then on": ({"finished_after": ONE}, {2, 3}),
        "ended before then": ({"finished_before": ONE}, {1}),
    },
    "delete_jobs": {
        "state": ({"state": "failed"}, {1, 2, 3}),
        "another": ({"state": "pending"}, set()),
        "ended before then": ({"finished_before": ONE}, {1}),
    },
    "trigger_scheduled_jobs": {
        "for then or later": ({"run_after": ONE + WAIT}, {2, 3}),
        "for before then": ({"run_before": ONE + WAIT}, {1}),
    },
}
CHANGED: Cases = {
    "error": ({"error_type": "TimeoutError"}, {2}),
    "ids": ({"job_ids": [1, 3]}, {1, 3}),
    "some": ({"batch": 2}, {1, 2}),
    "the next": ({"batch": 1, "after_id": 1}, {2}),
}


async def failed_once(database: Database, function: str) -> None:
    """Three jobs, enqueued at 12, 13 and 14 o'clock, whose attempts failed: for good, or so that they are scheduled. The first was
    the first worker's."""
    is_final = function in FINAL
    async with database.reserve("clocked") as connection:
        workers = [SqlWorker(connection, name) for name in ("first", "second", "second")]
        contents = [
            {"kind": "a", "args": {"shop": 7}, "metadata": {"state": "NM"}},
            {
                "kind": "b",
                "args": {"shop": 8, "card": {"last": 1}},
                "metadata": {"state": "AZ"},
                "queue": "q",
                "key": "k",
            },
            {"kind": "b", "args": {"shop": 7}, "metadata": {"state": "AZ"}},
        ]
        for worker, content, at in zip(workers, contents, (NOON, ONE, TWO), strict=True):
            await freeze(connection, at.isoformat())
            await worker.register()
            jobs = await worker.given_all([content], 1)
            error = {"type": "TimeoutError" if "key" in content else "ValueError", "message": "boom", "traceback": ""}
            await worker.fail(jobs, error, retry_in=[WAIT.total_seconds()], discard=[is_final])
        await connection.execute("update leasehold.workers set name = 'tidy-magpie' where worker_id = 'second'")
        # Whoever changes them comes later, and says so with the real clock.
        await connection.execute("reset leasehold.frozen_clock")


async def test_what_lists_find_is_what_is_changed(database: Database) -> None:
    for function in FUNCTIONS:
        await empty(database)
        await failed_once(database, function)
        for case, (filters, found) in {**LISTED, **CHANGED, **OWN[function]}.items():
            nobody_has_it = "worker_id" in filters and function not in FINAL  # a scheduled job
            expected = set[int]() if nobody_has_it else found
            async with rolled_back(database) as session:
                would = await session.call(function, **filters)
                if case in LISTED:
                    listed = await session.call("list_jobs", **filters)
                    assert {row["id"] for row in listed} == expected, (function, case)
                done = await session.call(function, dry_run=False, **filters)
                again = await session.call(function, **filters)
            assert {row["job_id"] for row in would if row["changed"]} == expected, (function, case)
            assert {row["job_id"] for row in done if row["changed"]} == expected, (function, case)
            assert expected.isdisjoint(row["job_id"] for row in again if row["changed"]), (function, case)


OPEN = """
select from leasehold.find_jobs('{pending,running}', null, null, null, null, null, null, null, null, null, null, null, null, 10)
"""
LOCKED = """
select count(*)::integer from pg_locks l join pg_inherits i on i.inhrelid = l.relation
 where l.pid = pg_backend_pid() and i.inhparent = 'leasehold.finished_jobs'::regclass
"""


async def test_a_look_at_open_jobs_locks_no_days_of_finished_ones(database: Database) -> None:
    await database.call("ensure_partitions", 3)
    await enqueue(database)
    async with rolled_back(database) as session:
        assert len(await session.fetch(OPEN)) == 1
        [[locked]] = await session.fetch(LOCKED)
    assert locked <= 1  # the default partition


async def test_an_id_whose_args_are_others_is_told_so(database: Database) -> None:
    await failed_once(database, "cancel_jobs")
    rows = await database.call("cancel_jobs", job_ids=[1, 2], args='{"shop": 7}', dry_run=False)
    assert [(row["changed"], row["reason"]) for row in rows] == [
        (True, None),
        (False, "it is scheduled and does not match"),
    ]
    assert (await job(database, 2))["state"] == "scheduled"


async def test_bad_filters_are_refused(database: Database) -> None:
    refused = {
        "cancel_jobs": ("failed", "pending, scheduled, waiting, blocked, claimed, running"),
        "retry_jobs": ("completed", "failed, cancelled"),
        "delete_jobs": ("running", "pending, scheduled, waiting, blocked, completed, failed, cancelled"),
    }
    for function, (state, states) in refused.items():
        with pytest.raises(BadInput, match=f"state must be one of {states}, not '{state}'"):
            await database.call(function, state=state)
    for function in FUNCTIONS:
        for batch, shown in ((0, "0"), (10_001, "10001"), (None, "null")):
            with pytest.raises(BadInput, match=f"batch must be from 1 to 10000, not {shown}"):
                await database.call(function, batch=batch)
