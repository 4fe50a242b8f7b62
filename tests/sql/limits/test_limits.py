"""No limit is ever exceeded: many connections at random, and an observer who counts all the while."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random
from time import monotonic

import trio

from leasehold.database import Database, ReservedConnection, Row
from leasehold.errors import WrongState
from tests.support.sql_jobs import enqueue_many, states
from tests.support.sql_limits import limit, mark, most_held, watch_holds
from tests.support.sql_waits import be_patient, freeze
from tests.support.sql_worker import SqlWorker

GROUPS = [None, "a", "b", "c", "big"]
HELD = "select key_group, count(*) as held from leasehold.jobs where incarnation is not null group by key_group"


class Claimer:
    """One connection that claims and ends jobs in every way there is."""

    def __init__(self, reserved: ReservedConnection, random: Random) -> None:
        self.reserved = reserved
        self.random = random
        self.worker = SqlWorker(reserved)
        self.held: list[Row] = []

    async def step(self) -> None:
        if self.random.random() < 0.5:
            self.held += await self.worker.claim(self.random.choice([1, 2, 10]))
        else:
            await self.end()

    async def end(self) -> None:
        size = self.random.choice([1, 2, len(self.held)])
        jobs, self.held = self.held[:size], self.held[size:]
        if "busy" in str(await self._end(jobs)):  # whoever sets a limit has the rows of held jobs for a moment
            await self.worker.settle(jobs)

    async def _end(self, jobs: list[Row]) -> object:
        match self.random.randrange(8):
            case 0:
                return await self.worker.fail(jobs, retry_in=[0.0] * len(jobs))
            case 1:
                return await self.worker.release(jobs)
            case 2:
                return await self.worker.reschedule(jobs, [0.001] * len(jobs))
            case 3 if jobs:
                await self.reserved.call("cancel_job", jobs[0]["job_id"])
                return await self.worker.complete(jobs[1:])
            case _:
                return await self.worker.complete(jobs)


async def observe(database: Database, is_over: Callable[[], bool]) -> dict[str, int]:
    """The most that anybody could see held at once, of all and of each group."""
    most: dict[str, int] = {}
    async with database.reserve("observer") as reserved:
        while not is_over():
            rows = await reserved.fetch(HELD)
            seen = {str(row["key_group"]): row["held"] for row in rows} | {"all": sum(row["held"] for row in rows)}
            most = {name: max(most.get(name, 0), seen.get(name, 0)) for name in most.keys() | seen.keys()}
    return most


async def claim_all(database: Database, seed: int, connections: int, steps: int) -> dict[str, int]:
    """Let so many connections do so many steps; returns what an observer saw."""
    running = connections
    seen: dict[str, int] = {}

    async def act(number: int) -> None:
        nonlocal running
        async with database.reserve(f"claimer {number}") as reserved:
            claimer = Claimer(reserved, Random(f"{seed} {number}"))
            for _ in range(steps):
                await claimer.step()
            while claimer.held:
                await claimer.end()
        running -= 1

    async def look() -> None:
        seen.update(await observe(database, lambda: running == 0))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        for number in range(connections):
            nursery.start_soon(act, number)
    return seen


def some_jobs(random: Random, count: int) -> list[object]:
    return [
        {
            "kind": random.choice("ab"),
            "key_group": random.choice(GROUPS),
            "priority": random.randrange(3),
            "key": random.choice([None, None, f"k{random.randrange(20)}"]),
        }
        for _ in range(count)
    ]


async def test_eight_connections_never_hold_more_than_the_limits_say(fresh_database: Database) -> None:
    database = fresh_database
    await be_patient(database)
    await watch_holds(database)
    await enqueue_many(database, some_jobs(Random(1), 600))
    await limit(database, 7)
    await limit(database, 2, group="*")
    await limit(database, 4, group="big")
    seen = await claim_all(database, 1, 8, 60)
    noted = await most_held(database)
    print(f"most held: seen {seen}, noted {noted}")
    assert noted["all"] == 7
    for most in (seen, noted):  # whoever looks may miss the moment in which it was most
        assert most["all"] <= 7
        assert most.get("big", 0) <= 4
        assert max(most.get(group, 0) for group in "abc") <= 2
    async with database.reserve("last") as reserved:
        await database.call("drop_limit", "default")
        await database.call("drop_limit", "default", "*")
        await database.call("drop_limit", "default", "big")
        await freeze(reserved, "2999-01-01")
        worker = SqlWorker(reserved)
        while claimed := await worker.claim(100):
            await worker.complete(claimed)
    assert set((await states(database)).values()) <= {"completed", "cancelled"}


async def test_a_limit_set_while_many_claim_counts_from_its_first_moment(fresh_database: Database) -> None:
    database = fresh_database
    await be_patient(database)
    await watch_holds(database)
    await enqueue_many(database, some_jobs(Random(7), 600))

    async def is_set(most: int) -> bool:
        with suppress(WrongState):  # it gives up after two seconds, and a busy machine may take longer for a claim
            async with database.transaction() as transaction:
                await limit(transaction, most)
                if most == 3:
                    await mark(transaction)
            return True
        return False

    async def set_limits() -> None:
        async with database.reserve("admin") as reserved:
            while not await reserved.fetch("select from public.holds limit 1"):
                await trio.lowlevel.checkpoint()
            for most in (5, 3):
                while not await is_set(most):
                    pass

    async with trio.open_nursery() as nursery:
        nursery.start_soon(set_limits)
        await claim_all(database, 7, 6, 60)
    # Those who claimed may all have ended before the second limit was there.
    await enqueue_many(database, some_jobs(Random(8), 200))
    await claim_all(database, 8, 6, 30)
    assert (await most_held(database, since_mark=True))["all"] == 3


async def test_eight_connections_never_start_more_than_the_rate_allows(fresh_database: Database) -> None:
    database = fresh_database
    await be_patient(database)
    await watch_holds(database)
    await enqueue_many(database, some_jobs(Random(3), 600))
    began = monotonic()
    await limit(database, rate=60.0, burst=10)
    await limit(database, group="*", rate=20.0, burst=3)
    await claim_all(database, 3, 8, 50)
    seconds = monotonic() - began
    given_back = "select count(*) from leasehold.job_events where event = 'released'"
    [counts] = await database.fetch(
        "select count(*) filter (where step = 1) as all, count(*) filter (where step = 1 and key_group = 'a') as a,"
        f" ({given_back}) as back from public.holds"
    )
    print(f"{counts['all']} starts ({counts['a']} of group a, {counts['back']} given back) in {seconds:.2f} s")
    assert counts["all"] - counts["back"] <= 10 + 60 * seconds
    assert counts["a"] - counts["back"] <= 3 + 20 * seconds
    assert counts["all"] >= 10
