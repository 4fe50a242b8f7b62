"""A worker without a process of its own: its parts live in the caller's trio loop, as long as a block lasts."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec
import trio

from leasehold.actors.process import Process, open_process
from leasehold.actors.processes.pool import check_process_kinds
from leasehold.actors.supervise import Outage, culprit, nobody, supervise
from leasehold.actors.worker.lent import Lent, Loan
from leasehold.actors.worker.worker import Worker
from leasehold.app import App
from leasehold.app.registry import with_builtins
from leasehold.database.migrations.state import check_version
from leasehold.errors import LeaseholdError
from leasehold.settings import Settings
from leasehold.settings.settings import seconds_to_stop

log = logging.getLogger(__name__)


@asynccontextmanager
async def open_worker(app: App, settings: Settings, worker_id: str, loan: Loan | None = None) -> AsyncGenerator[str]:
    """A worker that claims as long as the block lasts; yields its id.

    At the end of the block it claims nothing more, and running jobs have `settings.drain_seconds`. What runs longer is cancelled
    and handed back, and so is everything where the block ends by an exception or is cancelled. With a `loan` it asks over the pool
    of a client.

    Raises:
        DatabaseUnavailable, SchemaMismatch: before the block. ActorFailed: the worker cannot go on; the block is cancelled.
    """
    check_process_kinds(app)
    raised: list[Exception] = []
    try:
        async with _connected(app, settings, worker_id, loan) as (process, worker), trio.open_nursery() as nursery:
            for helper in process.helpers():
                nursery.start_soon(helper)
            ended, is_clean = trio.Event(), False
            nursery.start_soon(_run, worker, process.outage, ended)
            await worker.ready.wait()
            try:
                yield worker_id
                is_clean = True
            except Exception as error:
                raised.append(error)  # and raised below, where no nursery puts it into a group
            finally:
                await _end(worker, ended, settings, is_interrupted=not is_clean)
            nursery.cancel_scope.cancel()
    except ExceptionGroup as group:
        failure = culprit(group)
        if isinstance(failure, LeaseholdError):
            raise failure from failure.__cause__
        raise
    if raised:
        raise raised[0]


@asynccontextmanager
async def _connected(
    app: App, settings: Settings, worker_id: str, loan: Loan | None
) -> AsyncGenerator[tuple[Process, Worker]]:
    """A worker on connections of its own, or on those that are lent, and as few of its own as can be."""
    async with open_process(settings, with_builtins(app), f"leasehold worker in {os.getpid()}") as process:
        if loan is not None:
            lent = Lent(process.database, loan, process.epochs)
            await check_version(lent)
            await process.epochs.greet(lent)  # which a claim has to name
            borrowing = msgspec.structs.replace(process, lent=lent, payloads=loan.payloads)
            yield borrowing, Worker(borrowing, (lent, lent), worker_id)
            return
        database = process.database
        await check_version(database)
        async with database.reserve("dispatcher") as claims, database.reserve("settler") as outcomes:
            yield process, Worker(process, (claims, outcomes), worker_id)


async def _run(worker: Worker, outage: Outage, ended: trio.Event) -> None:
    """Until it has ended by itself: a worker that is cancelled would hand nothing back."""
    try:
        with trio.CancelScope(shield=True):
            await supervise(worker, nobody, outage)
    finally:
        ended.set()


async def _end(worker: Worker, ended: trio.Event, settings: Settings, *, is_interrupted: bool) -> None:
    """Drain the worker, which may be cancelled, then interrupt what still runs."""
    worker.drain()
    try:
        if not is_interrupted:
            with trio.move_on_after(seconds_to_stop(settings)[0]):
                await ended.wait()
                return
            log.warning("interrupting what still runs", extra={"worker_id": worker.parts.identity.worker_id})
    finally:
        with trio.CancelScope(shield=True):
            worker.interrupt()
            await ended.wait()
