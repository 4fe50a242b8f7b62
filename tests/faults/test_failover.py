"""A standby is promoted while the last commits have not reached it; or a backup is restored."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

import pytest
import trio

from leasehold.errors import DatabaseUnavailable
from tests.support.fleet import Fleet, open_fleet
from tests.support.processes import StartProcess
from tests.support.standby import Pair, Switch, replicated, switched
from tests.support.waiting import eventually

pytestmark = pytest.mark.acceptance

JOBS = 12
KINDS = ("told_to_end", "told_to_end_in_a_thread")
LOGGED_AHEAD = 40
"""More ids than the 32 that Postgres logs ahead of a sequence, which hide a small loss from a standby."""
NEW = LOGGED_AHEAD + JOBS
APP = "tests.support.failover_app:app"


@pytest.fixture
def pair(postgres_choice: str) -> Generator[Pair]:
    with replicated(postgres_choice) as pair:
        yield pair


@pytest.fixture
async def switch(pair: Pair) -> AsyncGenerator[Switch]:
    async with switched(pair.primary) as switch:
        yield switch


@pytest.fixture
async def fleet(pair: Pair, switch: Switch, start_process: StartProcess) -> AsyncGenerator[Fleet]:
    """A fleet that reaches its database through the switch."""
    pair.on_primary("create table public.effects (job_id bigint, who bigint)")
    pair.await_replication()
    slow = {"LEASEHOLD_LEASE_SECONDS": "60", "LEASEHOLD_RENEW_SECONDS": "20", "LEASEHOLD_SLOTS": str(JOBS)}
    async with open_fleet(switch.dsn, start_process, **slow) as fleet:
        yield fleet


async def fail_over(pair: Pair, switch: Switch) -> None:
    switch.off()
    await trio.to_thread.run_sync(pair.promote)
    switch.lead_to(pair.standby)


async def enqueue(fleet: Fleet, kind: str, args: dict[str, object]) -> int:
    """As a producer does: again, until it is acknowledged."""

    async def attempt() -> int | None:
        try:
            return await fleet.client.enqueue(kind, args)
        except DatabaseUnavailable:
            return None

    return await eventually(attempt)


async def running(fleet: Fleet, count: int) -> None:
    async def probe() -> bool:
        return await fleet.value("select count(*) from leasehold.jobs where state = 'running'") == count

    await eventually(probe)


async def all_completed(fleet: Fleet, jobs: list[int]) -> None:
    async def probe() -> bool:
        done = await fleet.database.fetch(
            "select id from leasehold.finished_jobs where state = 'completed' and id = any ($1)", jobs
        )
        return len(done) == len(jobs)

    await eventually(probe)


async def test_no_id_comes_twice_and_no_handler_of_a_lost_job_completes_a_new_one(
    pair: Pair, switch: Switch, fleet: Fleet
) -> None:
    """The worker lives through it, its dispatcher is quiet, and its handlers end just after the failover."""
    worker = await fleet.worker("w1", LEASEHOLD_APP=APP, LEASEHOLD_POLL_SECONDS="60")
    await fleet.idle("w1")
    kept = await enqueue(fleet, "hold_until_told", {"who": 0})
    await running(fleet, 1)
    await trio.to_thread.run_sync(pair.cut)
    pair.on_primary(f"select count(nextval('leasehold.jobs_id_seq')) from generate_series(1, {LOGGED_AHEAD})")
    lost = [await enqueue(fleet, KINDS[n % 2], {"who": n}) for n in range(1, JOBS)]
    await running(fleet, JOBS)

    await fail_over(pair, switch)
    new = [await enqueue(fleet, "say_who", {"who": n}) for n in range(NEW)]
    assert set(new).isdisjoint({kept, *lost}), "no id is given out twice"
    await fleet.database.execute("create table public.told ()")
    await all_completed(fleet, [kept, *new])

    rows = await fleet.database.fetch("select job_id, who from public.effects order by who")
    assert [tuple(row) for row in rows] == list(zip(new, range(NEW), strict=True)), "each its own effect"
    await worker.until_line("goes on in epoch")
    [epoch] = await fleet.database.fetch("select * from leasehold.list_epochs(1)")
    assert (epoch["cause"], sorted(epoch["lost_job_ids"])) == ("timeline", lost)
    assert (await fleet.client.get(kept)).attempt == 1, "what survived goes on"
    assert worker.exit_code is None


async def test_with_a_synchronous_standby_nothing_is_lost(pair: Pair, switch: Switch, fleet: Fleet) -> None:
    await trio.to_thread.run_sync(pair.synchronous)
    worker = await fleet.worker("w1", LEASEHOLD_APP=APP)
    long = [await enqueue(fleet, "hold_until_told", {"who": n}) for n in range(3)]
    await running(fleet, 3)
    quick: list[int] = []

    async def produce() -> None:
        while True:
            quick.append(await enqueue(fleet, "quick", {}))

    async def more(count: int) -> None:
        goal = len(quick) + count

        async def probe() -> bool:
            return len(quick) >= goal

        await eventually(probe)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(produce)
        await more(50)
        await fail_over(pair, switch)
        await more(50)
        nursery.cancel_scope.cancel()
    await fleet.database.execute("create table public.told ()")
    await all_completed(fleet, [*long, *quick])
    assert len(set(quick)) == len(quick)
    assert [(await fleet.client.get(job)).attempt for job in long] == [1, 1, 1]
    [epoch] = await fleet.database.fetch("select * from leasehold.list_epochs(1)")
    assert (epoch["cause"], epoch["lost_jobs"]) == ("timeline", 0)
    assert worker.exit_code is None
