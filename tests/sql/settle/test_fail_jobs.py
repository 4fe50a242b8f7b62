from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
import trio

from leasehold.database import Database
from leasehold.database.border import listen
from tests.support.sql_jobs import empty, enqueue, enqueue_many, events, job, snapshot, states
from tests.support.sql_waits import freeze
from tests.support.sql_worker import BOOM, SqlWorker, frozen_worker
from tests.support.waiting import PATIENCE


async def test_a_failed_attempt_is_scheduled_for_the_next_one(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        answer = (await worker.fail(await worker.given(), retry_in=[90.0]))[1]
        row = await job(connection, 1)
    due = datetime(2026, 3, 1, 12, 1, 30, tzinfo=UTC)
    assert (answer["outcome"], answer["reason"], answer["run_at"]) == ("scheduled", None, due)
    assert (row["state"], row["run_at"], row["attempt"]) == ("scheduled", due, 1)
    assert json.loads(row["error"]) == BOOM
    assert [row[c] for c in ("claimed_at", "started_at", "lease_expires_at", "worker_id", "incarnation")] == [None] * 5


async def test_the_last_attempt_fails_the_job(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.given(max_attempts=2), retry_in=[0.0])
    answer = (await worker.fail(await worker.claim()))[1]
    row = await job(database, 1)
    assert (answer["outcome"], answer["run_at"], row["state"], row["attempt"]) == ("failed", None, "failed", 2)
    assert (json.loads(row["error"]), row["worker_id"]) == (BOOM, "w1")
    assert row["finished_at"] is not None


async def test_discard_fails_the_job_at_once(database: Database, worker: SqlWorker) -> None:
    assert (await worker.fail(await worker.given(), discard=[True]))[1]["outcome"] == "failed"


async def test_spared_attempts_do_not_count(database: Database, worker: SqlWorker) -> None:
    await worker.release(await worker.given(max_attempts=2))
    await worker.reschedule(await worker.claim(), [0.0])
    outcomes: list[str] = []
    for _ in range(2):
        answer = await worker.fail(await worker.claim(), retry_in=[0.0])
        outcomes.append(answer[1]["outcome"])
    assert outcomes == ["pending", "failed"]
    assert (await job(database, 1))["attempt"] == 4


async def test_an_exhausted_explicit_retry_still_fails(database: Database, worker: SqlWorker) -> None:
    assert (await worker.fail(await worker.given(max_attempts=1), retry_in=[5.0]))[1]["outcome"] == "failed"


async def test_retry_at_once_is_pending_and_wakes(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    claimed = await worker.given(notify=False)
    await database.execute("update leasehold.workers set idle = true")
    async with listen(database, "leasehold") as listening:
        assert (await worker.fail(claimed, retry_in=[0.0]))[1]["outcome"] == "pending"
        with trio.fail_after(PATIENCE):
            assert await listening.payloads.receive() == "wake:default"


async def test_a_keyed_job_retried_at_once_stands_in_the_line_of_its_key(database: Database, worker: SqlWorker) -> None:
    (claimed,) = await worker.given_all([{"kind": "a", "key": "k"}, {"kind": "a", "key": "k", "priority": -1}])
    assert (await worker.fail([claimed], retry_in=[0.0]))[1]["outcome"] == "waiting"
    assert await states(database) == {1: "pending", 2: "waiting"}


async def test_while_a_keyed_job_waits_for_its_retry_the_next_of_its_key_runs(
    database: Database, worker: SqlWorker
) -> None:
    await worker.fail(await worker.given_all([{"kind": "a", "key": "k"}] * 2))
    assert await states(database) == {1: "scheduled", 2: "pending"}


async def test_a_failed_keyed_job_gives_its_key_on(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.given_all([{"kind": "a", "key": "k"}] * 2), discard=[True])
    assert await states(database) == {1: "failed", 2: "pending"}


async def test_a_senseless_retry_time_is_cut_and_settles_all_the_same(
    database: Database, subtests: pytest.Subtests
) -> None:
    for retry_in, at_most in [
        (-5.0, 0.0),
        (float("inf"), 3155760000.0),
        (float("nan"), 3155760000.0),
        (1e300, 3155760000.0),
    ]:
        await empty(database)
        with subtests.test(retry_in=retry_in, at_most=at_most):
            async with frozen_worker(database, "2026-03-01 12:00Z") as (_, worker):
                run_at = (await worker.fail(await worker.given(), retry_in=[retry_in]))[1]["run_at"]
            assert run_at == datetime(2026, 3, 1, 12, tzinfo=UTC) + timedelta(seconds=at_most)


async def test_the_back_off_of_the_kind_is_used_between_nothing_and_its_cap(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (_, worker):
        claimed = await worker.given_all([{"kind": "a"}] * 100, 100)
        many = len(claimed)
        answers = await worker.fail(claimed, initial=[8.0] * many, multiplier=[3.0] * many, cap=[5.0] * many)
    waits = [(row["run_at"] - datetime(2026, 3, 1, 12, tzinfo=UTC)).total_seconds() for row in answers.values()]
    assert 0 <= min(waits) < 1
    assert 4 < max(waits) <= 5


async def test_a_linear_back_off_waits_a_step_longer_each_time_up_to_its_cap(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        at = datetime(2026, 3, 1, 12, tzinfo=UTC)
        await freeze(connection, at.isoformat())
        await enqueue_many(connection, [{"kind": "a"}, {"kind": "b"}])
        waits: list[float] = []
        for _ in range(4):
            claimed = await worker.claim(kinds=["a"])
            run_at = (await worker.fail(claimed, step=[25.0], cap=[60.0]))[1]["run_at"]
            waits.append((run_at - at).total_seconds())
            at = run_at
            await freeze(connection, at.isoformat())
            await connection.call("trigger_job", 1)
        assert waits == [25, 50, 60, 60]
        # One of a batch that has no step waits by chance, as ever.
        assert (await worker.fail(await worker.claim(kinds=["b"]), step=[None], initial=[0.0]))[2]["run_at"] == at


async def test_the_back_off_counts_attempts_without_the_spared_ones(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await enqueue_many(connection, [{"kind": "a"}] * 50)
        for _ in range(6):
            await worker.release(await worker.claim(50))
        claimed = await worker.claim(50)
        answers = await worker.fail(claimed, initial=[1.0] * 50)
    waits = [(row["run_at"] - datetime(2026, 3, 1, 12, tzinfo=UTC)).total_seconds() for row in answers.values()]
    assert max(waits) <= 1


async def test_each_job_of_a_batch_gets_its_own_outcome(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a"}, {"kind": "a", "max_attempts": 1}, {"kind": "a"}, {"kind": "a"}])
    await database.call("cancel_job", 4)
    answers = await worker.fail(claimed, retry_in=[5.0, 5.0, 0.0, 5.0])
    assert {i: (row["outcome"], row["reason"]) for i, row in answers.items()} == {
        1: ("scheduled", None),
        2: ("failed", None),
        3: ("pending", None),
        4: ("refused", "cancelled"),
    }


async def test_every_failed_attempt_stays_in_the_timeline_with_its_worker_and_error(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given(max_attempts=2)
    await worker.start(claimed)
    await worker.fail(claimed, {"type": "E", "message": "one"}, retry_in=[0.0])
    other = SqlWorker(database, "w2")
    await other.fail(await other.claim(), {"type": "E", "message": "two"}, ran_for=[0.0])
    rows = await database.call("get_job_timeline", 1)
    assert [(row["event"], row["attempt"], row["worker_id"], row["message"]) for row in rows] == [
        ("created", 0, None, None),
        ("claimed", 1, "w1", None),
        ("started", 1, "w1", None),
        ("attempt_failed", 1, "w1", "E: one"),
        ("claimed", 2, "w2", None),
        ("started", 2, "w2", None),
        ("failed", 2, "w2", "E: two"),
    ]
    assert json.loads(rows[3]["detail"]) == {"type": "E", "message": "one"}


async def test_a_repeated_call_for_a_job_that_failed_for_good_is_silent(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    await worker.fail(claimed, discard=[True])
    before = await snapshot(database)
    assert await worker.fail(claimed, discard=[True]) == {}
    assert await snapshot(database) == before
    assert [event for event, _ in await events(database, 1)].count("failed") == 1


# A process of its own died under the handler.


CRASH = {"type": "ProcessDied", "message": "killed by signal 9", "crash": True}


async def test_a_crash_counts_and_an_ordinary_failure_clears_the_count(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    for error, crashes in [(CRASH, 1), (CRASH, 2), (BOOM, 0), (CRASH, 1)]:
        await worker.fail(await worker.claim(), error, retry_in=[0.0])
        row = await job(database, 1)
        assert (row["state"], row["crashes"]) == ("pending", crashes)


async def test_three_crashes_in_a_row_put_it_in_quarantine(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    for _ in range(2):
        await worker.fail(await worker.claim(), CRASH, retry_in=[0.0])
    answer = (await worker.fail(await worker.claim(), CRASH, retry_in=[0.0]))[1]
    row = await job(database, 1)
    assert (answer["outcome"], row["state"], row["crashes"], row["attempt"]) == ("failed", "failed", 3, 3)
    assert json.loads(row["error"]) == {
        "type": "Quarantined",
        "message": "3 processes died while they ran this job; the last one: killed by signal 9",
        "crash": True,
    }


async def test_a_crash_in_a_process_of_its_own_and_the_death_of_a_worker_count_together(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue(database)
    for _ in range(2):
        await worker.fail(await worker.claim(), CRASH, retry_in=[0.0])
    await worker.claim()
    await database.execute("update leasehold.jobs set lease_expires_at = now() - interval '1 s'")
    (reaped,) = await database.call("reap_jobs")
    assert reaped["state"] == "failed"


async def test_only_true_is_a_crash(database: Database, worker: SqlWorker, subtests: pytest.Subtests) -> None:
    for crash in [False, None, "true", 1]:
        await empty(database)
        with subtests.test(crash=crash):
            await worker.fail(await worker.given(), {**BOOM, "crash": crash})
            assert (await job(database, 1))["crashes"] == 0
