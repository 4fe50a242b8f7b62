"""At most one active job of a key, no job forgotten behind one, and nobody ever notices: many connections at random."""

from __future__ import annotations

from random import Random
from uuid import uuid4

import pytest
import trio

from leasehold.database import Database, ReservedConnection, Row
from leasehold.errors import UnknownJob, WrongState
from tests.support.sql_audit import broken_rules, watch
from tests.support.sql_jobs import empty, enqueue_many, states
from tests.support.sql_waits import be_patient, open_transaction
from tests.support.sql_worker import SqlWorker, frozen_worker, ids
from tests.support.waiting import PATIENCE

KEYS = [None, "hot", *(f"k{n}" for n in range(8))]


class Actor:
    """One connection that does whatever a worker, a client, a scheduler or a reaper might do next."""

    def __init__(self, reserved: ReservedConnection, random: Random) -> None:
        self.reserved = reserved
        self.random = random
        self.worker = SqlWorker(reserved)
        self.held: list[Row] = []
        self.made: list[int] = []

    async def step(self) -> None:
        actions = {
            self.enqueue: 3,
            self.claim: 10,
            self.settle: 10,
            self.upkeep: 3,
            self.meddle: 3,
            self.linger: 3,
        }
        await self.random.choices(list(actions), list(actions.values()))[0]()

    def some_jobs(self) -> list[object]:
        return [
            {
                "kind": self.random.choice("ab"),
                "queue": self.random.choice("xy"),
                "key": self.random.choice(KEYS),
                "priority": self.random.randrange(3),
                "delay": self.random.choice([None, None, None, 0.002]),
                "max_attempts": 4,
            }
            for _ in range(self.random.randrange(1, 4))
        ]

    async def enqueue(self) -> None:
        self.made += await enqueue_many(self.reserved, self.some_jobs())

    async def claim(self) -> None:
        lease = self.random.choice([0.002, 60.0])
        self.held += await self.worker.claim(self.random.choice([1, 1, 3, 20]), lease=lease)

    async def settle(self) -> None:
        self.random.shuffle(self.held)
        size = self.random.choice([1, len(self.held), len(self.held)])
        jobs, self.held = self.held[:size], self.held[size:]
        match self.random.randrange(9):
            case 0:
                await self.worker.fail(jobs, retry_in=[self.random.choice([0.0, 0.005]) for _ in jobs])
            case 1:
                await self.worker.release(jobs)
            case 2:
                await self.worker.reschedule(jobs, [self.random.choice([0.0, 0.005]) for _ in jobs])
            case 3:
                await self.worker.renew(self.held, lease=self.random.choice([0.002, 60.0]))
                self.held += jobs
            case _:
                await self.worker.complete(jobs)

    async def upkeep(self) -> None:
        name = self.random.choice(["reap_jobs", "make_jobs_due", "promote_stranded_jobs"])
        from_the_first = (None, None) if name == "promote_stranded_jobs" else ()
        await self.reserved.call(name, *from_the_first, self.random.choice([3, 1000]))

    async def meddle(self) -> None:
        if not self.made:
            return
        try:
            await self.reserved.call(self.random.choice(["cancel_job", "retry_job"]), self.random.choice(self.made))
        except (WrongState, UnknownJob):
            return

    async def linger(self) -> None:
        """A transaction of the user's own that takes its time."""
        await self.reserved.execute("begin")
        self.made += await enqueue_many(self.reserved, self.some_jobs())
        await trio.sleep(self.random.random() * 0.01)
        await self.reserved.execute(self.random.choice(["commit", "commit", "rollback"]))


async def run_dry(database: Database) -> None:
    """Settle everything that is left, as one healthy worker with a scheduler and a reaper would."""
    async with frozen_worker(database, "2999-01-01") as (reserved, worker):
        await reserved.call("recover_stale_jobs", 1)
        while claimed := await worker.claim(50):
            assert await worker.complete(claimed) == {}


async def test_many_connections_at_random_break_no_rule_and_strand_no_job(fresh_database: Database) -> None:
    database = fresh_database
    await be_patient(database)
    watch(database)
    made: list[int] = []

    async def act(number: int) -> None:
        async with database.reserve(f"actor {number}") as reserved:
            actor = Actor(reserved, Random(number))
            for _ in range(150):
                await actor.step()
            made.extend(actor.made)

    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(act, number)
    await run_dry(database)
    found = await states(database)
    assert set(found.values()) <= {"completed", "failed", "cancelled"}
    assert broken_rules(database) == []
    kept = set(made) & set(found)
    assert len(kept) > 100
    assert set(found) <= set(made)


async def test_settlers_and_claimers_of_one_key_hand_it_from_job_to_job(fresh_database: Database) -> None:
    """Nothing but claims and completions: no sweep may be needed, except by a claim that found too little."""
    database = fresh_database
    watch(database)
    await enqueue_many(database, [{"kind": "a", "key": f"k{n % 3}"} for n in range(120)])
    await database.execute("update leasehold.jobs set state = 'pending' where id % 2 = 0 and state = 'waiting'")
    done: list[int] = []

    async def work(name: str) -> None:
        async with database.reserve(name) as reserved:
            worker = SqlWorker(reserved)
            while len(done) < 120:
                claimed = await worker.claim(2)
                assert await worker.settle(claimed) == {}
                done.extend(ids(claimed))

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            for n in range(4):
                nursery.start_soon(work, f"w{n}")
    assert sorted(done) == list(range(1, 121))
    assert broken_rules(database) == []


async def test_the_database_itself_keeps_a_key_to_one_holder(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a", "key": "k"}] * 2)
    with pytest.raises(Exception, match="jobs_one_holder_per_key"):
        await database.execute(
            "update leasehold.jobs set state = 'claimed', claimed_at = now(), lease_expires_at = now(),"
            " incarnation = gen_random_uuid() where id = 2"
        )


async def test_a_future_or_retrying_job_of_a_key_does_not_stall_it(database: Database, worker: SqlWorker) -> None:
    for is_retrying in (False, True):
        await empty(database)
        await enqueue_many(database, [{"kind": "a", "key": "k", "priority": 9, "delay": 60}] * 20)
        await enqueue_many(database, [{"kind": "a", "key": "k"}] * 3)
        order: list[int] = []
        for _ in range(3):
            (claimed,) = await worker.claim()
            order.append(claimed["job_id"])
            await (worker.fail([claimed], retry_in=[60.0]) if is_retrying else worker.complete([claimed]))
        assert len(set(order)) == 3
        assert await worker.claim() == []


async def test_a_key_that_is_locked_for_long_holds_up_nobody_else(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k", "priority": 9}] * 2)
    await enqueue_many(database, [{"kind": "a", "key": f"other {n}"} for n in range(10)])
    async with open_transaction(database, "user") as user:
        await user.call("cancel_job", 1)
        with trio.fail_after(PATIENCE):
            assert len(await worker.claim(1)) == 1
            assert len(await worker.claim(20)) == 9
        await user.execute("commit")
    assert ids(await worker.claim()) == [2]


async def test_a_job_that_nobody_can_claim_stalls_no_other_queue_or_kind_of_its_key(database: Database) -> None:
    """Its queue is paused, or no worker serves its kind: with key = store and queue = role, other roles go on."""
    await database.call("enqueue_job", "crawl", key="store", queue="paused")
    await database.call("pause_queue", "paused")
    live = await database.call_value("enqueue_job", "crawl", key="store", queue="live")
    unserved = await database.call_value("enqueue_job", "other", key="store", queue="live")
    worker = uuid4()
    claimed = await database.call("claim_jobs", worker, "w", ["live", "paused"], ["crawl"], 10)
    assert [row["job_id"] for row in claimed] == [live]
    again = await database.call_value("enqueue_job", "crawl", key="store", queue="live")
    await database.call("complete_jobs", worker, [live], [1], [None], [0.0])
    claimed = await database.call("claim_jobs", worker, "w", ["live", "paused"], ["crawl"], 10)
    assert [row["job_id"] for row in claimed] == [again]
    await database.call("complete_jobs", worker, [again], [1], [None], [0.0])
    assert {row["state"] for row in await database.call("get_job", unserved)} == {"pending"}
