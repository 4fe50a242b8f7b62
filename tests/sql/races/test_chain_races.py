"""Two connections and more where chains meet: in a scripted order, in step, and at random."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import product
from random import Random

import pytest
import trio

from leasehold.database import Caller, Database, ReservedConnection, Row
from leasehold.errors import BadInput, LeaseLost, UnknownJob, WrongState
from tests.sql.jobs.keys.test_keys import run_dry
from tests.support.sql_audit import broken_rules, watch
from tests.support.sql_chains import (
    blocked_by,
    broken_chains,
    claim_kind,
    complete_all,
    edges,
    enqueue_blocked,
    links,
    sweep,
)
from tests.support.sql_guards import expire
from tests.support.sql_jobs import empty, enqueue, enqueue_many, events, job, snapshot, state, states
from tests.support.sql_waits import (
    be_patient,
    frozen,
    meet,
    meet_twice,
    open_transaction,
    until_tried,
    until_waiting,
)
from tests.support.sql_worker import SqlWorker, insist
from tests.support.waiting import PATIENCE

Settle = Callable[[SqlWorker, list[Row]], Awaitable[object]]
NEXT = {"next": {"kind": "b"}}


async def complete(worker: SqlWorker, jobs: list[Row]) -> object:
    return await insist(lambda: worker.complete(jobs))


async def continue_without_next(worker: SqlWorker, jobs: list[Row]) -> object:
    return await insist(lambda: worker.continue_with(jobs, [None] * len(jobs)))


async def complete_one(worker: SqlWorker, jobs: list[Row]) -> object:
    return [await worker.caller.call("complete_job", row["job_id"], row["attempt"], worker.incarnation) for row in jobs]


WAYS = (complete, continue_without_next, complete_one)


async def in_parallel(
    database: Database, name: str, call: Callable[[ReservedConnection], Awaitable[object]], then: list[object]
) -> None:
    """Make a call on a connection of its own; its answer or its error goes into `then`."""
    async with database.reserve(name) as reserved:
        try:
            then.append(await call(reserved))
        except (WrongState, LeaseLost) as error:
            then.append(str(error))


def settling(settle: Settle, worker: SqlWorker, jobs: list[Row]) -> Callable[[ReservedConnection], Awaitable[object]]:
    """That settlement, over a connection that is given later."""

    async def call(reserved: ReservedConnection) -> object:
        return await settle(worker.over(reserved), jobs)

    return call


def calling(function: str, job_id: int) -> Callable[[ReservedConnection], Awaitable[object]]:
    async def call(reserved: ReservedConnection) -> object:
        return await insist(lambda: reserved.call(function, job_id))

    return call


async def continue_with_second(worker: SqlWorker, jobs: list[Row]) -> object:
    return await insist(lambda: worker.continue_with(jobs, [{"next": {"kind": "second"}}]))


# Two blockers of one job.


async def test_of_two_blockers_that_complete_in_two_open_transactions_the_later_releases(
    database: Database, worker: SqlWorker
) -> None:
    """Each sees the other's as open. The second waits for the row of the job, and then looks again."""
    for settle, end in product(WAYS, ("commit", "rollback")):
        await empty(database)
        _, joined = await blocked_by(database, 2)
        first, second = await claim_kind(worker, "part")
        answers: list[object] = []
        async with trio.open_nursery() as nursery, open_transaction(database, "first") as reserved:
            await settle(worker.over(reserved), [first])
            nursery.start_soon(in_parallel, database, "second", settling(settle, worker, [second]), answers)
            await until_waiting(database, "second")
            assert await state(database, joined) == "blocked"
            await reserved.execute(end)
        assert await state(database, joined) == ("pending" if end == "commit" else "blocked")
        if end == "rollback":
            await settle(worker, [first])
        assert await state(database, joined) == "pending"
        assert [event for event, _ in await events(database, joined)] == ["created", "unblocked"]
        assert await sweep(database) == 0
        assert await broken_chains(database, is_swept=True) == []


async def test_under_repeatable_read_the_sweep_releases_what_neither_could_see(
    database: Database, worker: SqlWorker
) -> None:
    _, joined = await blocked_by(database, 2)
    jobs = await claim_kind(worker, "part")
    async with database.reserve("one") as one, database.reserve("two") as two:
        for reserved in (one, two):
            await reserved.execute("begin isolation level repeatable read")
            await reserved.fetch("select from leasehold.jobs")
        for reserved, row in zip((one, two), jobs, strict=True):
            await complete_one(worker.over(reserved), [row])
            await reserved.execute("commit")
    await sweep(database)
    assert await state(database, joined) == "pending"
    assert await broken_chains(database, is_swept=True) == []


@pytest.mark.parametrize("settle", [complete, continue_without_next])
async def test_hundreds_of_joins_whose_blockers_complete_in_step_are_all_released(
    fresh_database: Database, settle: Settle
) -> None:
    """Three connections end one blocker each of 40 jobs at the same moment, 15 times, and nobody sweeps."""
    database, worker = fresh_database, SqlWorker(fresh_database)
    parts = [{"kind": f"part {n % 3}"} for n in range(120)]
    joins = [
        {"kind": "join", "key": f"k{n % 7}", "blockers": [{"position": 3 * n + p} for p in (1, 2, 3)]}
        for n in range(40)
    ]
    async with database.reserve("a") as a, database.reserve("b") as b, database.reserve("c") as c:
        for _ in range(15):
            await enqueue_many(database, [*parts, *joins])
            held = [await claim_kind(worker, f"part {n}") for n in range(3)]
            async with trio.open_nursery() as nursery:
                for reserved, jobs in zip((a, b, c), held, strict=True):
                    nursery.start_soon(settle, worker.over(reserved), jobs)
            assert await database.fetch("select from leasehold.jobs where state = 'blocked'") == []
            await database.execute("delete from leasehold.jobs")


async def test_transactions_of_handlers_that_end_in_step_release_what_they_block(fresh_database: Database) -> None:
    """As above, one job to a transaction, on four connections."""
    database, worker = fresh_database, SqlWorker(fresh_database)
    async with (
        database.reserve("a") as a,
        database.reserve("b") as b,
        database.reserve("c") as c,
        database.reserve("d") as d,
    ):
        for _ in range(30):
            _, joined = await blocked_by(database, 4)
            held = await claim_kind(worker, "part")
            async with trio.open_nursery() as nursery:
                for reserved, row in zip((a, b, c, d), held, strict=True):
                    nursery.start_soon(complete_one, worker.over(reserved), [row])
            assert await state(database, joined) == "pending"
            await database.execute("delete from leasehold.jobs")


# A job that begins to wait while its blocker ends.


async def test_a_job_enqueued_in_a_transaction_in_which_its_blocker_completes_is_found_by_the_sweep(
    database: Database, worker: SqlWorker
) -> None:
    for settle in WAYS:
        await empty(database)
        held = await worker.given(kind="part")
        async with open_transaction(database, "producer") as producer:
            joined = await enqueue_blocked(producer, [1], key="k")
            await settle(worker, held)
            await producer.execute("commit")
        assert await state(database, joined) == "blocked"
        assert await sweep(database) == 1
        assert await state(database, joined) == "pending"
        assert [edge[:2] for edge in await edges(database, joined)] == [(1, True)]


async def test_a_job_enqueued_while_the_completion_is_in_flight_is_found_by_the_sweep_after_it(
    database: Database, worker: SqlWorker
) -> None:
    for settle in WAYS:
        await empty(database)
        held = await worker.given(kind="part")
        async with open_transaction(database, "settler") as settler:
            await settle(worker.over(settler), held)
            joined = await enqueue_blocked(database, [1])
            assert await sweep(database) == 0
            await settler.execute("commit")
        assert await state(database, joined) == "blocked"
        assert await sweep(database) == 1
        assert await state(database, joined) == "pending"


async def test_a_handler_that_begins_to_wait_while_the_chain_completes_is_found_by_the_sweep(
    database: Database, worker: SqlWorker
) -> None:
    for is_block_first in (True, False):
        await empty(database)
        await enqueue_many(database, [{"kind": "part"}, {"kind": "a"}])
        part, held = await claim_kind(worker, "part"), await claim_kind(worker, "a")
        async with open_transaction(database, "first") as first:
            if is_block_first:
                assert await worker.over(first).block(held, [{"blockers": [1]}]) == {}
                assert await worker.complete(part, ["done"]) == {}
            else:
                await worker.over(first).complete(part, ["done"])
                assert await worker.block(held, [{"blockers": [1]}]) == {}
            await first.execute("commit")
        assert await state(database, 2) == "blocked"
        assert await sweep(database) == 1
        assert (await state(database, 2), await edges(database, 2)) == ("pending", [(1, True, "done")])


async def test_a_sweep_and_a_completion_release_a_job_once(database: Database, worker: SqlWorker) -> None:
    """One blocker completed unseen, the other completes while the sweep goes round."""
    first, second = await worker.given_all([{"kind": "part"}] * 2)
    async with open_transaction(database, "producer") as producer:
        joined = await enqueue_blocked(producer, [1, 2])
        await worker.complete([first], ["unseen"])
        await producer.execute("commit")
    async with open_transaction(database, "settler") as settler:
        await worker.over(settler).complete([second], ["seen"])
        with trio.fail_after(PATIENCE):
            assert await sweep(database) == 0
        await settler.execute("commit")
    assert await state(database, joined) == "pending"
    assert await edges(database, joined) == [(1, True, "unseen"), (2, True, "seen")]
    assert [event for event, _ in await events(database, joined)] == ["created", "unblocked"]


# One attempt, several outcomes.


async def test_a_continuation_written_again_while_the_first_is_in_flight_makes_one_next_job(
    database: Database, worker: SqlWorker
) -> None:
    for end in ("commit", "rollback"):
        await empty(database)
        held = await worker.given()
        answers: list[object] = []
        async with trio.open_nursery() as nursery, open_transaction(database, "first") as first:
            await worker.over(first).continue_with(held, [{"next": {"kind": "first"}}])
            nursery.start_soon(in_parallel, database, "second", settling(continue_with_second, worker, held), answers)
            await until_tried(database, "second")
            await first.execute(end)
        (_, (new_id, _, _, _)) = await links(database, 1)
        assert answers == [{1: (None, None if end == "commit" else [new_id])}]
        assert (await job(database, new_id))["kind"] == ("first" if end == "commit" else "second")
        assert await broken_chains(database) == []


async def test_of_a_completion_and_a_cancel_or_a_reaper_exactly_one_counts(
    database: Database, worker: SqlWorker
) -> None:
    for settle, winner in product(WAYS, ("settle", "cancel", "reap")):
        await empty(database)
        await enqueue(database, max_attempts=1)
        joined = await enqueue_blocked(database, [1])
        held = await worker.claim()
        await expire(database, 1)
        answers: list[object] = []
        async with trio.open_nursery() as nursery, open_transaction(database, "first") as first:
            if winner == "settle":
                await settle(worker.over(first), held)
                assert await database.call("reap_jobs") == []
                nursery.start_soon(in_parallel, database, "second", calling("cancel_job", 1), answers)
            else:
                await (first.call("cancel_job", 1) if winner == "cancel" else first.call("reap_jobs"))
                nursery.start_soon(in_parallel, database, "second", settling(settle, worker, held), answers)
            await until_tried(database, "second")
            await first.execute("commit")
        expected = {"settle": "completed", "cancel": "cancelled", "reap": "failed"}[winner]
        assert await states(database) == {1: expected, joined: "pending" if winner == "settle" else "blocked"}
        if winner == "settle":
            assert answers == ["job 1 is completed and cannot be cancelled"]
        elif settle is complete_one:
            assert str(answers[0]).startswith("attempt 1 does not hold job 1 any more")
        else:
            reason = "cancelled" if winner == "cancel" else "taken_by_another_worker"
            assert answers == [{1: reason if settle is complete else (reason, None)}]
        assert await broken_chains(database, is_swept=True) == []


async def test_of_two_retries_of_a_failed_link_one_counts_and_the_chain_has_one_open_job(
    database: Database, worker: SqlWorker
) -> None:
    await worker.continue_with(await worker.given(), [NEXT])
    await worker.fail(await worker.claim(), discard=[True])
    with pytest.raises(WrongState):
        await meet_twice(database, lambda each: each.call("retry_job", 2))
    assert await broken_chains(database) == []
    assert await complete_all(worker, "b") == [2]


async def test_a_blocked_job_that_is_cancelled_while_its_blocker_completes_stays_cancelled(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue(database, kind="part")
    joined = await enqueue_blocked(database, [1], key="k")
    held = await worker.claim()
    answer = await meet(database, lambda first: first.call("cancel_job", joined), settling(complete, worker, held))
    assert answer == {}
    assert await state(database, joined) == "cancelled"
    await database.call("retry_job", joined)
    assert await state(database, joined) == "pending"


async def test_a_completion_waits_for_no_transaction_that_only_looks_at_its_dependents(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue(database, kind="part")
    joined = await enqueue_blocked(database, [1])
    held = await worker.claim()
    async with open_transaction(database, "reader") as reader:
        await reader.fetch("select from leasehold.all_jobs")
        before = await snapshot(reader)
        with trio.fail_after(PATIENCE):
            await worker.complete(held)
        assert before != await snapshot(database)
    assert await state(database, joined) == "pending"


# At random.


class Actor:
    """A connection that does now this, now that, with jobs that wait for each other and share keys."""

    def __init__(self, reserved: ReservedConnection, random: Random, roots: list[int]) -> None:
        self.reserved = reserved
        self.random = random
        self.roots = roots
        self.worker = SqlWorker(reserved)
        self.held: list[Row] = []

    async def step(self) -> None:
        actions = {self.enqueue: 4, self.claim: 10, self.settle: 12, self.upkeep: 3, self.meddle: 2, self.linger: 2}
        with suppress(WrongState, UnknownJob, BadInput):
            await self.random.choices(list(actions), list(actions.values()))[0]()

    def some_job(self, earlier: int, *, is_next: bool = False) -> dict[str, object]:
        positions = [{"position": n} for n in range(1, earlier + 1) if self.random.random() < 0.5]
        roots = self.random.sample(self.roots[-30:], min(len(self.roots), self.random.choice([0, 0, 1, 3])))
        return {
            "kind": self.random.choice("ab"),
            "key": self.random.choice([None, None, "x", "y", "z"]),
            "priority": self.random.choice([None, 1]),
            "delay": None if is_next else self.random.choice([None, None, 0.002]),
            "blockers": positions + roots,
            "max_attempts": 3,
        }

    def some_jobs(self) -> list[dict[str, object]]:
        return [self.some_job(n) for n in range(self.random.randrange(1, 4))]

    async def enqueue(self, caller: Caller | None = None) -> None:
        self.roots += await enqueue_many(caller or self.reserved, self.some_jobs())

    async def claim(self) -> None:
        lease = self.random.choice([0.002, 60.0, 60.0])
        self.held += await self.worker.claim(self.random.choice([1, 3, 20]), lease=lease)

    def some_continuation(self) -> dict[str, object]:
        jobs = self.some_jobs() if self.random.random() < 0.3 else []
        following = {"next": self.some_job(len(jobs), is_next=True)} if self.random.random() < 0.4 else {}
        return {"jobs": jobs, **following}

    async def settle(self) -> None:
        self.random.shuffle(self.held)
        size = self.random.choice([1, len(self.held), len(self.held)])
        jobs, self.held = self.held[:size], self.held[size:]
        match self.random.randrange(8):
            case 0:
                await self.worker.fail(jobs, retry_in=[self.random.choice([0.0, 0.002]) for _ in jobs])
            case 1:
                await self.worker.block(
                    jobs, [{"blockers": self.random.sample(self.roots[-30:], min(1, len(self.roots)))} for _ in jobs]
                )
            case 2:
                await self.worker.release(jobs)
            case 3 | 4 | 5:
                answer = await self.worker.continue_with(jobs, [self.some_continuation() for _ in jobs])
                self.roots += [new for _, made in answer.values() for new in (made or [])[:-1]]
            case _:
                await self.worker.complete(jobs)

    async def upkeep(self) -> None:
        name = self.random.choice(["reap_jobs", "make_jobs_due", "promote_stranded_jobs", "unblock_stranded_jobs"])
        await self.reserved.call(name)

    async def meddle(self) -> None:
        if self.roots:
            await self.reserved.call(
                self.random.choice(["cancel_job", "retry_job"]), self.random.choice(self.roots[-30:])
            )

    async def linger(self) -> None:
        """A transaction of the user's own that takes its time: it ends a job and enqueues others."""
        await self.reserved.execute("begin")
        roots = list(self.roots)
        try:
            if self.held:
                await complete_one(self.worker, [self.held.pop()])
            await self.enqueue()
            await trio.sleep(self.random.random() * 0.005)
        except (LeaseLost, BadInput):
            self.roots[:] = [root for root in self.roots if root in roots]
            await self.reserved.execute("rollback")
        else:
            await self.reserved.execute("commit")


async def test_many_connections_at_random_never_deadlock_and_break_no_rule(fresh_database: Database) -> None:
    database = fresh_database
    await be_patient(database)
    watch(database)
    roots: list[int] = []

    async def act(number: int) -> None:
        async with database.reserve(f"actor {number}") as reserved:
            actor = Actor(reserved, Random(number), roots)
            for _ in range(150):
                await actor.step()

    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(act, number)
    assert await broken_chains(database) == []
    last = math.inf
    while (left := len(await database.fetch("select from leasehold.jobs where state <> 'blocked'"))) and left < last:
        last = left
        async with frozen(database, "2999-01-01") as reserved:
            await sweep(reserved)
        await run_dry(database)
    assert broken_rules(database) == []
    await sweep(database)
    assert await broken_chains(database, is_swept=True) == []
    found = await states(database)
    assert set(found.values()) <= {"completed", "failed", "cancelled", "blocked"}
    assert len(found) > 100
