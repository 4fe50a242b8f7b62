"""The four functions that change all that match take the filters of list_jobs: worker, args, metadata, time of enqueueing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from leasehold.database import Database
from tests.support.sql_jobs import empty, job
from tests.support.sql_waits import freeze, rolled_back
from tests.support.sql_worker import SqlWorker

NOON, ONE, TWO = (datetime(2026, 3, 1, hour, tzinfo=UTC) for hour in (12, 13, 14))
FINAL = ("retry_jobs", "delete_jobs")
FUNCTIONS = ("cancel_jobs", "retry_jobs", "delete_jobs", "trigger_scheduled_jobs")

CASES: Mapping[str, tuple[dict[str, Any], set[int]]] = {
    "args": ({"args": '{"shop": 7}'}, {1, 3}),
    "args at depth": ({"args": '{"card": {"last": 1}}'}, {2}),
    "args that nobody has": ({"args": '{"shop": "7"}'}, set()),
    "metadata": ({"metadata": '{"state": "AZ"}'}, {2, 3}),
    "worker": ({"worker_id": "first"}, {1}),
    "worker that nobody knows": ({"worker_id": "third"}, set()),
    "all of them": ({"args": '{"shop": 7}', "worker_id": "second"}, {3}),
}
TIMES: Mapping[str, tuple[dict[str, Any], set[int]]] = {
    "from then on": ({"created_after": ONE}, {2, 3}),
    "before then": ({"created_before": ONE}, {1}),
    "between": ({"created_after": ONE, "created_before": TWO}, {2}),
}


async def failed_once(database: Database, function: str) -> None:
    """Three jobs, enqueued at 12, 13 and 14 o'clock, whose attempts failed: for good, or so that they are scheduled. The first was
    the first worker's."""
    is_final = function in FINAL
    async with database.reserve("clocked") as connection:
        workers = [SqlWorker(connection, name) for name in ("first", "second", "second")]
        contents = [
            ({"shop": 7}, {"state": "NM"}),
            ({"shop": 8, "card": {"last": 1}}, {"state": "AZ"}),
            ({"shop": 7}, {"state": "AZ"}),
        ]
        for worker, (args, metadata), at in zip(workers, contents, (NOON, ONE, TWO), strict=True):
            await freeze(connection, at.isoformat())
            await worker.register()
            jobs = await worker.given_all([{"kind": "k", "args": args, "metadata": metadata}], 1)
            await worker.fail(jobs, retry_in=[864000.0], discard=[is_final])
        # Whoever changes them comes later, and says so with the real clock.
        await connection.execute("reset leasehold.frozen_clock")


async def test_what_lists_find_is_what_is_changed(database: Database) -> None:
    for function in FUNCTIONS:
        await empty(database)
        await failed_once(database, function)
        for case, (filters, found) in {**CASES, **TIMES}.items():
            nobody_has_it = "worker_id" in filters and function not in FINAL  # a scheduled job
            expected = set[int]() if nobody_has_it else found
            async with rolled_back(database) as session:
                listed = await session.call("list_jobs", **filters)
                would = await session.call(function, **filters)
                done = await session.call(function, dry_run=False, **filters)
                again = await session.call(function, **filters)
            assert {row["id"] for row in listed} == {row["job_id"] for row in would if row["changed"]} == expected, case
            assert {row["job_id"] for row in done if row["changed"]} == expected, case
            assert [row for row in again if row["changed"]] == [], case


async def test_an_id_whose_args_are_others_is_told_so(database: Database) -> None:
    await failed_once(database, "cancel_jobs")
    rows = await database.call("cancel_jobs", job_ids=[1, 2], args='{"shop": 7}', dry_run=False)
    assert [(row["changed"], row["reason"]) for row in rows] == [
        (True, None),
        (False, "it is scheduled and does not match"),
    ]
    assert (await job(database, 2))["state"] == "scheduled"
