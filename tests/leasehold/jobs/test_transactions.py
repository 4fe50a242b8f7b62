"""Transactions of a client, and what waits for their commit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
import trio

from leasehold import Client, open_client
from leasehold.database import Database, OpenTransaction, open_asyncio_database
from leasehold.errors import BadInput, DatabaseUnavailable, QueryRefused
from leasehold.events import JobCreated
from leasehold.notify.doorbell import Doorbell
from tests.leasehold.client.conftest import flavour, under, with_client
from tests.support.callers import FragileCaller
from tests.support.flavours import under_asyncio

__all__ = ["flavour", "under"]


class Effects:
    """Which queues the client rang for, and of which jobs it told."""

    def __init__(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rings: list[set[str]] = []
        self.told: list[int] = []

        def ring(_doorbell: Doorbell, queues: set[str]) -> None:
            self.rings.append(queues)

        monkeypatch.setattr(Doorbell, "ring", ring)
        client.subscribe(JobCreated, lambda event: self.told.append(event.job_id))


@with_client()
async def test_workers_are_woken_once_for_each_queue_after_the_commit_and_events_told(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    effects = Effects(client, monkeypatch)
    async with client.transaction() as tx:
        for _ in range(3):
            await client.enqueue("echo", queue="mail", connection=tx)
        await client.enqueue("echo", queue="default", connection=tx)
        assert (effects.rings, effects.told) == ([], [])
    assert (effects.rings, effects.told) == ([{"mail", "default"}], [1, 2, 3, 4])


@with_client()
async def test_a_rollback_leaves_neither_jobs_nor_wake_ups_nor_events(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    effects = Effects(client, monkeypatch)
    with suppress(ZeroDivisionError):
        async with client.transaction() as tx:
            await client.enqueue("echo", connection=tx)
            raise ZeroDivisionError
    assert (effects.rings, effects.told, await client.jobs.list()) == ([], [], [])


@with_client()
async def test_a_savepoint_takes_its_jobs_and_effects_back_and_heals_a_failed_statement(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    effects = Effects(client, monkeypatch)
    async with client.transaction() as tx:
        kept = await client.enqueue("echo", queue="kept", connection=tx)
        with suppress(QueryRefused):
            async with tx.savepoint():
                await client.enqueue("echo", queue="lost", connection=tx)
                async with tx.savepoint():
                    await client.enqueue("echo", queue="inner", connection=tx)
                await tx.execute("select * from public.nowhere")
        async with tx.savepoint():
            also = await client.enqueue("echo", queue="also", connection=tx)
    assert (effects.rings, effects.told) == ([{"kept", "also"}], [kept, also])
    assert {job.queue for job in await client.jobs.list()} == {"kept", "also"}


def cancel_me() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


@with_client()
async def test_a_savepoint_whose_block_is_cancelled_is_undone(
    client: Client, flavour: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    effects = Effects(client, monkeypatch)

    async def undone(client: Client, tx: OpenTransaction, cancel: Callable[[], object]) -> None:
        async with tx.savepoint():
            await client.enqueue("echo", queue="lost", connection=tx)
            cancel()
            await tx.fetch("select pg_sleep(600)")

    async with client.transaction() as tx:
        kept = await client.enqueue("echo", queue="kept", connection=tx)
        if flavour == "trio":
            with trio.CancelScope() as scope:
                await undone(client, tx, scope.cancel)
        else:
            task = asyncio.create_task(undone(client, tx, cancel_me))
            await asyncio.wait([task])
            assert task.cancelled()
    assert (effects.rings, effects.told) == ([{"kept"}], [kept])
    assert {job.queue for job in await client.jobs.list()} == {"kept"}


@with_client()
async def test_a_transaction_that_is_over_says_so_to_who_enqueues_in_it(client: Client) -> None:
    async with client.transaction() as tx:
        pass
    with pytest.raises(DatabaseUnavailable):
        await client.enqueue("echo", connection=tx)


@under_asyncio
async def test_a_connection_of_the_callers_wakes_when_its_hooks_are_flushed(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        open_asyncio_database(database_url) as own,
        open_client(database_url) as client,
        own.pool.acquire() as connection,
    ):
        effects = Effects(client, monkeypatch)
        async with client.hooks() as hooks, connection.transaction():
            await client.enqueue("echo", queue="mail", connection=connection, hooks=hooks)
            assert effects.rings == []
        assert (effects.rings, effects.told) == ([{"mail"}], [1])
        with suppress(ZeroDivisionError):
            async with client.hooks() as hooks, connection.transaction():
                await client.enqueue("echo", queue="lost", connection=connection, hooks=hooks)
                raise ZeroDivisionError
        async with client.hooks() as hooks, connection.transaction():
            await client.enqueue("echo", queue="dropped", connection=connection, hooks=hooks)
            hooks.discard()
        assert (effects.rings, effects.told) == ([{"mail"}], [1])
        async with connection.transaction():
            await client.enqueue("echo", queue="in time", connection=connection)
        assert (effects.rings, effects.told) == ([{"mail"}], [1])


async def test_a_client_over_something_else_has_no_transactions(database: Database) -> None:
    with pytest.raises(BadInput, match="has transactions"):
        async with Client(FragileCaller(database)).transaction():
            raise AssertionError


class Foreign:
    """As a connection of a library that we do not know: it executes and does not fetch."""

    async def execute(self, sql: str) -> None:
        raise AssertionError(sql)


async def test_connections_of_other_drivers_are_refused_by_name_and_with_what_to_do(database: Database) -> None:
    client = Client(database)
    foreign: list[tuple[Any, str]] = [(Foreign(), "test_transactions.Foreign"), (object(), "builtins.object")]
    for connection, name in foreign:
        for call in (
            client.enqueue("echo", connection=connection),
            client.jobs.lock(1, connection=connection),
            client.jobs.edit(1, priority=2, connection=connection),
            client.jobs.delete(1, connection=connection),
            client.chains.complete(1, connection=connection),
        ):
            with pytest.raises(BadInput, match=f"not .*{name}; .* leasehold.enqueue_statement"):
                await call
