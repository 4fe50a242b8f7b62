"""A worker on the pool of a client, under trio and under asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import trio

import leasehold
from leasehold.actors.epochs import EpochWatch
from leasehold.actors.worker.lent import Lent, borrow
from leasehold.concurrency.flavours import in_thread
from leasehold.database import open_database
from leasehold.errors import BadInput, ClientClosed, ClientNotOpen, DatabaseUnavailable, EpochOver
from leasehold.payloads.options import PayloadOptions
from tests.support.flavours import in_flavour
from tests.support.waiting import eventually
from tests.support.working import app_with_a_gate, unhurried

BOTH = pytest.mark.parametrize("runs", ["trio", "asyncio"])
CONNECTIONS = """
select application_name from pg_stat_activity
 where datname = current_database() and backend_type = 'client backend' and application_name like 'leasehold%'
"""
WAITING = "select from pg_locks where locktype = 'advisory' and not granted"


@pytest.fixture(autouse=True)
def has_time_to_end() -> Generator[None]:
    with unhurried():
        yield


@BOTH
def test_it_runs_jobs_over_the_pool_of_the_client_and_keeps_two_connections_of_its_own(
    database_url: str, runs: str
) -> None:
    app, begun, may_end = app_with_a_gate()

    async def main() -> None:
        async with (
            leasehold.open_client(database_url) as client,
            leasehold.worker(app, client, worker_id="inside", slots=2) as name,
        ):
            job_id = await client.enqueue("wait")
            await in_thread(begun.wait)
            may_end.set()
            assert await client.wait(job_id) == "done"
            assert (name, (await client.get(job_id)).worker_id) == ("inside", "inside")
            names = [row["application_name"] for row in await client.__lends__[0].fetch(CONNECTIONS)]
            assert {name.split()[-1] for name in names if name != "leasehold"} <= {"keeper", "listener"}, names
            assert names.count("leasehold") <= 5
        assert await left_running(database_url) == []

    in_flavour(runs, main)


@BOTH
def test_one_connection_of_the_pool_is_always_left_to_the_client(database_url: str, runs: str) -> None:
    """Three statements of the worker stand still on a pool of two; without a limit nothing would answer the client."""

    async def main() -> None:
        async with leasehold.open_client(database_url, pool_size=2) as client:
            asked, may_end = threading.Event(), threading.Event()

            async def ask() -> None:
                await in_thread(asked.wait)
                try:
                    await client.ping()
                finally:
                    may_end.set()

            given = (client.__lends__[0], database_url, asked, may_end)
            if runs == "trio":
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(stand_still, *given)
                    await ask()
            else:
                worker = asyncio.create_task(asyncio.to_thread(trio.run, stand_still, *given))
                await ask()
                await worker

    in_flavour(runs, main)


async def stand_still(lender: Any, database_url: str, asked: threading.Event, may_end: threading.Event) -> None:
    """Three statements of a worker wait for a lock until they may end."""
    async with open_database(database_url) as own, trio.open_nursery() as nursery, own.transaction() as holder:
        await holder.fetch("select pg_advisory_xact_lock(7)")
        lent = Lent(own, borrow(lender, PayloadOptions()), EpochWatch())
        for _ in range(3):
            nursery.start_soon(lent.fetch, "select pg_advisory_xact_lock(7)")
        await eventually(lambda: waits(holder))
        asked.set()
        await in_thread(may_end.wait)


@BOTH
def test_when_the_client_is_closed_it_goes_on_with_connections_of_its_own(database_url: str, runs: str) -> None:
    app, begun, may_end = app_with_a_gate()

    async def main() -> None:
        client = await leasehold.connect(database_url)
        worker = leasehold.worker(app, client)
        await worker.start()
        running = await client.enqueue("wait")
        await in_thread(begun.wait)
        await client.close()
        may_end.set()
        async with leasehold.open_client(database_url) as other:
            assert await other.wait(running) == "done"
            assert await other.wait(await other.enqueue("wait")) == "done"
        await worker.stop()
        assert await left_running(database_url) == []

    in_flavour(runs, main)


@BOTH
def test_two_workers_may_share_one_client(database_url: str, runs: str) -> None:
    async def main() -> None:
        async with (
            leasehold.open_client(database_url, pool_size=2) as client,
            leasehold.worker(app_with_a_gate()[0], client) as one,
            leasehold.worker(app_with_a_gate()[0], client) as two,
        ):
            assert {each.worker_id for each in await client.workers.list()} == {one, two}
            for job_id in [await client.enqueue("echo", {"n": n}) for n in range(20)]:
                assert (await client.wait(job_id))["n"] in range(20)

    in_flavour(runs, main)


@BOTH
def test_it_uses_the_payload_store_of_the_client(database_url: str, tmp_path: Path, runs: str) -> None:
    large = "x" * 300_000

    async def main() -> None:
        async with (
            leasehold.open_client(database_url, payloads=str(tmp_path)) as client,
            leasehold.worker(app_with_a_gate()[0], client),
        ):
            job_id = await client.enqueue("echo", {"text": large})
            assert (await client.wait(job_id))["text"] == large

    in_flavour(runs, main)
    assert len([each for each in tmp_path.rglob("*") if each.is_file()]) == 2  # args and output


@BOTH
def test_clients_that_cannot_lend_are_refused(database_url: str, runs: str) -> None:
    app = app_with_a_gate()[0]

    async def main() -> None:
        async with leasehold.open_client(database_url, pool_size=1) as client:
            with pytest.raises(BadInput, match="one connection, which a worker would take from it"):
                leasehold.worker(app, client)
        with pytest.raises(ClientClosed):
            leasehold.worker(app, client)

    in_flavour(runs, main)
    wrong: Any = leasehold.open_client(database_url)
    with pytest.raises(ClientNotOpen, match="returns no client yet"):
        leasehold.worker(app, wrong)


async def test_nothing_is_asked_while_the_process_turns_to_another_epoch(database_url: str) -> None:
    epochs = EpochWatch()
    async with open_database(database_url) as lender, open_database(database_url) as own:
        lent = Lent(own, borrow(lender, PayloadOptions()), epochs)
        await lent.fetch("select 1")
        epochs.suspect()
        with pytest.raises(EpochOver):
            await lent.fetch("select 1")
        epochs.begin(1)
        await lent.fetch("select 1")


async def test_a_client_that_is_closed_under_a_statement_is_a_database_that_is_away(database_url: str) -> None:
    """So the worker tries again, and finds it closed."""
    async with open_database(database_url) as lender, open_database(database_url) as own:
        lent = Lent(own, borrow(lender, PayloadOptions()), EpochWatch())
        async with trio.open_nursery() as nursery, own.transaction() as holder:
            await holder.fetch("select pg_advisory_xact_lock(7)")
            nursery.start_soon(fails, lent)
            await eventually(lambda: waits(holder))
            await lender.in_asyncio(lender.close)
        await lent.fetch("select 1")


async def fails(lent: Lent) -> None:
    with pytest.raises(DatabaseUnavailable):
        await lent.fetch("select pg_advisory_xact_lock(7)")


async def waits(caller: Any) -> bool:
    return bool(await caller.fetch(WAITING))


async def left_running(database_url: str) -> list[Any]:
    async with leasehold.open_client(database_url) as client:
        return [each for each in await client.workers.list() if each.state != "stopped"]
