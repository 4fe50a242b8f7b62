"""Two connections in a scripted order, where a race is about more than one function. Others stand with their function."""

from __future__ import annotations

from datetime import timedelta
from typing import cast

import pytest
import trio

from leasehold.database import Database, ReservedConnection, Row
from leasehold.errors import LeaseholdError, WrongState
from tests.support.sql_guards import expire
from tests.support.sql_jobs import empty, enqueue, enqueue_many, events, job, snapshot, states
from tests.support.sql_waits import be_patient, open_transaction, until_tried, until_waiting
from tests.support.sql_worker import SqlWorker, ids, insist


async def test_an_outcome_written_again_while_the_first_write_is_in_flight_counts_once(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given_all([{"kind": "a", "key": "k"}] * 2)
    answers: list[object] = []

    async def again() -> None:
        async with database.reserve("second") as second:
            answers.append(await insist(lambda: worker.over(second).complete(claimed, ["second"])))

    async with trio.open_nursery() as nursery, open_transaction(database, "first") as first:
        assert await worker.over(first).complete(claimed, ["first"]) == {}
        nursery.start_soon(again)
        await until_tried(database, "second")
        await first.execute("commit")
    assert answers == [{}]
    assert (await job(database, 1))["output"] == '"first"'
    assert [event for event, _ in await events(database, 1)].count("completed") == 1


async def test_when_the_first_write_never_commits_the_second_counts(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()

    async def again() -> None:
        async with database.reserve("second") as second:
            assert await insist(lambda: worker.over(second).complete(claimed, ["second"])) == {}

    async with trio.open_nursery() as nursery, open_transaction(database, "first") as first:
        await worker.over(first).complete(claimed, ["first"])
        nursery.start_soon(again)
        await until_tried(database, "second")
        await first.execute("rollback")
    assert (await job(database, 1))["output"] == '"second"'


async def test_of_a_completion_and_a_failure_of_one_attempt_exactly_one_counts(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given()
    outcomes: list[str] = []

    async def fail() -> None:
        async with database.reserve("second") as second:
            answer = await insist(lambda: worker.over(second).fail(claimed))
            outcomes.extend(str(row) for row in cast("dict[int, Row]", answer).values())

    async with trio.open_nursery() as nursery, open_transaction(database, "first") as first:
        await worker.over(first).complete(claimed)
        nursery.start_soon(fail)
        await until_tried(database, "second")
        await first.execute("commit")
    assert outcomes == []
    assert await states(database) == {1: "completed"}


async def test_a_claim_that_never_commits_took_nothing(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}, {"kind": "a", "key": "k"}, {"kind": "a", "key": "k"}])
    before = await snapshot(database)
    async with open_transaction(database, "claimer") as claimer:
        assert ids(await worker.over(claimer).claim()) == [1, 2]
    assert await snapshot(database) == before
    assert [row["attempt"] for row in await worker.claim()] == [1, 1]


async def test_a_zombie_changes_nothing_whatever_it_still_writes(database: Database, worker: SqlWorker) -> None:
    """A worker that was stopped for longer than its lease wakes up while another one runs its job."""
    lost = await worker.given()
    await worker.start(lost)
    await expire(database, 1)
    await database.call("reap_jobs")
    heir = SqlWorker(database, "heir")
    held = await heir.claim()
    before = await snapshot(database)
    for write in (worker.renew, worker.start, worker.complete, worker.release):
        assert await write(lost) == {1: "taken_by_another_worker"}
    assert await worker.reschedule(lost, [1.0]) == {1: "taken_by_another_worker"}
    assert [row["outcome"] for row in (await worker.fail(lost)).values()] == ["refused"]
    assert await worker.held() == set()
    assert await snapshot(database) == before
    assert await heir.complete(held, ["mine"]) == {}
    assert (await job(database, 1))["output"] == '"mine"'
    assert await worker.complete(lost) == {1: "already_completed"}


async def test_of_concurrent_enqueues_of_a_new_key_one_job_runs_and_the_others_wait_in_line(
    database: Database, worker: SqlWorker
) -> None:
    async with open_transaction(database, "one") as one, open_transaction(database, "two") as two:
        for reserved in (one, two):
            await enqueue(reserved, key="k")
        await one.execute("commit")
        await two.execute("commit")
    assert await states(database) == {1: "pending", 2: "pending"}
    claimed = await worker.claim()
    assert await states(database) == {1: "claimed", 2: "waiting"}
    await worker.complete(claimed)
    assert await states(database) == {1: "completed", 2: "pending"}


async def test_two_claimers_that_meet_in_one_key_both_go_on(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k"}] * 2 + [{"kind": "a"}])
    await database.execute("update leasehold.jobs set state = 'pending'")
    async with open_transaction(database, "first") as first:
        assert ids(await SqlWorker(first, "first").claim(1)) == [1]
        second = SqlWorker(database, "second")
        assert ids(await second.claim(1)) == [3]
        await first.execute("commit")
    assert await second.claim(1) == []
    assert await states(database) == {1: "claimed", 2: "waiting", 3: "claimed"}


async def test_two_schedulers_make_each_job_due_once(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "delay": 60, "key": f"k{n % 150}"} for n in range(300)])
    await database.execute("update leasehold.jobs set run_at = now() - interval '1 s'")
    made: list[int] = []

    async def schedule(name: str) -> None:
        async with database.reserve(name) as reserved:
            for _ in range(8):
                count = await reserved.call_value("make_jobs_due", 50)
                assert isinstance(count, int)
                made.append(count)

    async with trio.open_nursery() as nursery:
        for name in ("one", "two", "three"):
            nursery.start_soon(schedule, name)
    while left := await database.call_value("make_jobs_due", 1000):
        assert isinstance(left, int)
        made.append(left)
    assert sum(made) == 300
    counts = await database.fetch("select key, count(*) from leasehold.jobs where state = 'pending' group by key")
    assert {row[1] for row in counts} == {1}
    assert len(counts) == 150


async def test_of_a_retry_and_a_cancel_of_a_scheduled_job_both_orders_work(database: Database) -> None:
    outcome: list[str] = []

    async def call(function: str) -> None:
        async with database.reserve("second") as reserved:
            try:
                await insist(lambda: reserved.call(function, 1))
                outcome.append("done")
            except WrongState as error:
                outcome.append(str(error))

    for first_call, second_call, expected, end in (
        ("cancel_job", "retry_job", "done", "pending"),
        ("retry_job", "cancel_job", "done", "cancelled"),
    ):
        await empty(database)
        outcome.clear()
        await enqueue(database, delay=timedelta(hours=1))
        async with trio.open_nursery() as nursery, open_transaction(database, "first") as first:
            await first.call(first_call, 1)
            nursery.start_soon(call, second_call)
            await until_waiting(database, "second")
            await first.execute("commit")
        assert (outcome, await states(database)) == ([expected], {1: end})


async def test_the_janitor_gives_way_to_a_settler_instead_of_a_deadlock(fresh_database: Database) -> None:
    """It locks tables one after the other, and settlers write to several of them in an order of their own."""
    database = fresh_database
    await be_patient(database)
    await database.execute(
        "create table leasehold.finished_jobs_20010101 partition of leasehold.finished_jobs"
        " for values from ('2001-01-01') to ('2001-01-02');"
        "create table leasehold.job_events_20010101 partition of leasehold.job_events"
        " for values from ('2001-01-01') to ('2001-01-02')"
    )
    await enqueue_many(database, [{"kind": "a", "delay": 60}] * 2)

    async def cancel(settler: ReservedConnection) -> None:
        assert await settler.call_value("cancel_job", 2) == "scheduled"

    async with trio.open_nursery() as nursery, open_transaction(database, "settler") as settler:
        async with open_transaction(database, "janitor") as janitor:
            await settler.call("retry_job", 1)
            assert await janitor.call_value("drop_old_partitions", 1) == 1
            nursery.start_soon(cancel, settler)
            await until_waiting(database, "settler")
            await janitor.execute("commit")
        await settler.execute("commit")
    assert await states(database) == {1: "pending", 2: "cancelled"}


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
async def test_under_stricter_isolation_a_conflict_is_an_error_and_never_a_second_holder(
    database: Database, worker: SqlWorker, isolation: str
) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k"}] * 2)
    await database.execute("update leasehold.jobs set state = 'pending'")
    async with database.reserve("strict") as strict:
        await strict.execute(f"begin isolation level {isolation}")
        await strict.fetch("select from leasehold.jobs")
        claimed = await worker.claim(1)
        try:
            assert await SqlWorker(strict).claim(1) == []
            await strict.execute("commit")
        except LeaseholdError:
            await strict.execute("rollback")
    assert (await states(database))[ids(claimed)[0]] == "claimed"
    held = await database.fetch("select from leasehold.jobs where state = 'claimed'")
    assert len(held) == 1
