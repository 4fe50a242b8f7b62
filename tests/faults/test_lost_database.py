"""Postgres goes away under load: restarted, crashed, connections cut."""

from __future__ import annotations

import pytest
import trio

from leasehold.database.cluster import StopMode
from leasehold.errors import DatabaseUnavailable
from tests.support.fleet import Fleet
from tests.support.servers import OwnServer
from tests.support.waiting import eventually

pytestmark = pytest.mark.acceptance


MODES: tuple[StopMode, ...] = ("fast", "immediate")


class Load:
    """Enqueues without pause and remembers what was acknowledged."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self.acknowledged: list[int] = []

    async def run(self) -> None:
        while True:
            try:
                self.acknowledged.append(await self._fleet.client.enqueue("quick"))
            except DatabaseUnavailable:
                await trio.sleep(0.02)

    async def grown(self, by: int) -> None:
        """Until so many more were acknowledged."""
        goal = len(self.acknowledged) + by

        async def probe() -> bool:
            return len(self.acknowledged) >= goal

        await eventually(probe)


async def everything_completed(fleet: Fleet, load: Load) -> None:
    async def probe() -> bool:
        done = await fleet.database.fetch(
            "select id from leasehold.finished_jobs where state = 'completed' and id = any ($1)", load.acknowledged
        )
        return len(done) == len(load.acknowledged)

    await eventually(probe)
    doubled = await fleet.database.fetch("select id from leasehold.finished_jobs group by id having count(*) > 1")
    assert doubled == []


async def test_no_acknowledged_job_is_lost_when_postgres_restarts_in_order_or_after_a_crash(
    durable_fleet: Fleet, durable_server: OwnServer
) -> None:
    fleet = durable_fleet
    worker = await fleet.worker("w1")
    others = fleet.run("scheduler", "reaper")
    await others.until_line("running scheduler, due jobs, reaper")
    load = Load(fleet)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(load.run)
        await load.grown(50)
        for mode in MODES:
            await trio.to_thread.run_sync(durable_server.restart, mode)
            await load.grown(50)
        nursery.cancel_scope.cancel()
    await everything_completed(fleet, load)
    assert (worker.exit_code, others.exit_code) == (None, None)
    await fleet.idle("w1")


async def test_cut_connections_lose_nothing(fleet: Fleet) -> None:
    worker = await fleet.worker("w1")
    others = fleet.run("scheduler", "reaper")
    await others.until_line("running scheduler, due jobs, reaper")
    load = Load(fleet)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(load.run)
        for _ in range(5):
            await load.grown(40)
            await fleet.database.fetch(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where datname = current_database() and pid <> pg_backend_pid()"
            )
        nursery.cancel_scope.cancel()
    await everything_completed(fleet, load)
    assert (worker.exit_code, others.exit_code) == (None, None)
    later = await fleet.client.enqueue("quick")
    assert (await fleet.job(later, "completed")).attempt >= 1
