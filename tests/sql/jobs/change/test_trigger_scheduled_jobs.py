from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leasehold.database import Caller, Database
from leasehold.errors import BadInput
from tests.support.sql_jobs import enqueue, enqueue_many, events, snapshot, states
from tests.support.sql_worker import SqlWorker

Changes = dict[int, tuple[bool, str | None, str | None, str | None]]

TRIGGERED = (True, "scheduled", "pending", None)


async def trigger(caller: Caller, *, dry_run: bool = False, **filters: object) -> Changes:
    """For each job whether it was changed, its state before and now, and why not."""
    rows = await caller.call("trigger_scheduled_jobs", timeout=None, dry_run=dry_run, **filters)
    return {row["job_id"]: (row["changed"], row["was"], row["now"], row["reason"]) for row in rows}


@pytest.fixture
async def later(database: Database, worker: SqlWorker) -> Database:
    """1 waits for its second attempt, 2 is due in an hour, 3 and 4 of another queue and kind with one key after the year 2500,
    5 is pending."""
    await enqueue(database, "a")
    error = {"type": "TimeoutError", "message": "boom", "traceback": ""}
    await worker.fail(await worker.claim(), error, retry_in=[7200.0])
    keyed = {"kind": "b", "queue": "q", "key": "k", "run_at": "2500-01-02T00:00:00Z"}
    await enqueue_many(database, [{"kind": "a", "delay": 3600}, keyed, keyed, {"kind": "a"}])
    return database


async def test_all_that_match_are_run_now_and_the_others_stay(later: Database) -> None:
    assert await trigger(later, kind="a") == {1: TRIGGERED, 2: TRIGGERED}
    assert await states(later) == {1: "pending", 2: "pending", 3: "scheduled", 4: "scheduled", 5: "pending"}
    assert (await events(later, 2))[-1] == ("triggered", 0)
    assert await trigger(later) == {3: TRIGGERED, 4: (True, "scheduled", "waiting", None)}
    assert await trigger(later) == {}


NOON = datetime(2500, 1, 1, 12, tzinfo=UTC)


CASES: list[tuple[dict[str, object], list[int]]] = [
    ({"queue": "q"}, [3, 4]),
    ({"key": "k"}, [3, 4]),
    ({"error_type": "TimeoutError"}, [1]),
    ({"run_before": NOON}, [1, 2]),
    ({"run_after": NOON}, [3, 4]),
    ({"after_id": 2}, [3, 4]),
    ({"batch": 2}, [1, 2]),
    ({"queue": "nobody's"}, []),
]


async def test_a_dry_run_tells_what_would_be_done_and_does_nothing(later: Database) -> None:
    for filters, ids in CASES:
        before = await snapshot(later)
        assert list(await trigger(later, dry_run=True, **filters)) == ids
        assert await snapshot(later) == before


async def test_each_id_is_answered_with_the_reason_where_nothing_was_done(later: Database) -> None:
    assert await trigger(later, job_ids=[99, 5, 3, 2], kind="a") == {
        2: TRIGGERED,
        3: (False, "scheduled", "scheduled", "it does not match"),
        5: (False, "pending", "pending", "it is pending"),
        99: (False, None, None, "there is no job 99"),
    }


async def test_a_batch_has_bounds(database: Database) -> None:
    for batch in (0, 10_001, None):
        with pytest.raises(BadInput, match="batch must be from 1 to 10000"):
            await trigger(database, batch=batch)
