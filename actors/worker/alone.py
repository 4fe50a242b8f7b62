"""A worker without a process of its own: its parts live in the caller's trio loop, as long as a block lasts."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import trio

from leasehold.actors.processes.requirements import check_process_kinds
from leasehold.actors.shared.epochs import EpochLooker, EpochWatch
from leasehold.actors.shared.outage import Outage
from leasehold.actors.shared.supervisor import Actor, culprit, nobody, supervise
from leasehold.actors.worker.worker import Worker
from leasehold.app import App
from leasehold.app.registry import with_builtins
from leasehold.database import open_database
from leasehold.database.migrations import expected_version, oldest_version
from leasehold.database.migrations.state import check_version
from leasehold.errors import LeaseholdError
from leasehold.notify.listener import Listener
from leasehold.notify.switchboard import Switchboard
from leasehold.settings import Settings
from leasehold.settings.settings import seconds_to_stop

log = logging.getLogger(__name__)


@asynccontextmanager
async def open_worker(app: App, settings: Settings, worker_id: str) -> AsyncGenerator[str]:
    """A worker that claims as long as the block lasts; yields its id.

    At the end of the block it claims nothing more, and running jobs have `settings.drain_seconds`. What runs longer is cancelled
    and handed back, and so is everything where the block ends by an exception or is cancelled.

    Raises:
        DatabaseUnavailable, SchemaMismatch: before the block. ActorFailed: the worker cannot go on; the block is cancelled.
    """
    check_process_kinds(app)
    raised: list[Exception] = []
    try:
        async with AsyncExitStack() as stack:
            worker, outage, helpers = await _assemble(stack, app, settings, worker_id)
            async with trio.open_nursery() as nursery:
                for helper in helpers:
                    nursery.start_soon(helper)
                ended, is_clean = trio.Event(), False
                nursery.start_soon(_run, worker, outage, ended)
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


async def _assemble(
    stack: AsyncExitStack, app: App, settings: Settings, worker_id: str
) -> tuple[Worker, Outage, list[Callable[[], Awaitable[None]]]]:
    """A worker on connections of its own, what says that the database is away, and what runs beside it."""
    epochs, outage, board = EpochWatch(), Outage(), Switchboard()
    label, direct = f"leasehold worker in {os.getpid()}", settings.direct_database_url
    database = await stack.enter_async_context(
        open_database(settings.database_url or "", application_name=label, direct_dsn=direct, greeter=epochs)
    )
    await check_version(database, expected_version(), oldest_version())
    claims = await stack.enter_async_context(database.reserve("dispatcher"))
    outcomes = await stack.enter_async_context(database.reserve("settler"))
    beside: list[Actor] = [EpochLooker(epochs, database)]
    if settings.notify:
        beside.append(Listener(database, board))
    worker = Worker(
        database, (claims, outcomes), settings, with_builtins(app), board, worker_id, outage=outage, epochs=epochs
    )
    helpers = [partial(supervise, each, nobody, outage) for each in beside]
    return worker, outage, [partial(outage.watch, database), *helpers]


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
