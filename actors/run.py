"""A process of actors: any set of them shares one nursery, one listener and one database."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Protocol

import trio

from leasehold.actors.ending import Ending
from leasehold.actors.identity import made_up_id
from leasehold.actors.probes import Probes, answer_idly
from leasehold.actors.process import Process, open_process
from leasehold.actors.processes.pool import check_process_kinds
from leasehold.actors.supervise import Actor, culprit, nobody, supervise, until_there
from leasehold.actors.upkeep.due_jobs import DueJobs
from leasehold.actors.upkeep.janitor import Accountant, Janitor
from leasehold.actors.upkeep.reaper import Reaper
from leasehold.actors.upkeep.scheduler import Scheduler, declare_schedules, recover_stale
from leasehold.actors.worker.worker import Worker
from leasehold.app import App
from leasehold.app.registry import with_builtins
from leasehold.concurrency.asyncio_border import loop_ended
from leasehold.concurrency.ending import stop_signals
from leasehold.database import ReservedConnection
from leasehold.errors import BadInput, LeaseholdError
from leasehold.settings import Settings
from leasehold.settings.settings import seconds_to_stop

log = logging.getLogger(__name__)

ACTORS = ("worker", "scheduler", "reaper")


class Drainable(Actor, Protocol):
    """An actor that can end in good order."""

    def drain(self) -> None:
        """End in good order."""
        ...


async def run_actors(
    names: Sequence[str],
    settings: Settings,
    *,
    app: App | None = None,
    begin: Callable[[], Awaitable[object]] | None = None,
    stays: bool = False,
) -> int:
    """Run actors until they are told to stop.

    SIGTERM or SIGINT drains: nothing more is claimed, running jobs may finish for `settings.drain_seconds`, less where
    `settings.stop_seconds` asks for it. A second signal interrupts running handlers and hands their jobs back; the process
    ends within five seconds, and the lease of a handler that cannot be interrupted runs out. A third one ends it at once.
    A blocked event loop changes none of it.

    Args:
        names: any of `worker`, `scheduler` and `reaper`; `reaper` also starts the janitor and the accountant.
        settings: of the process.
        app: its handlers run besides the built-in `echo` and `dummy`.
        begin: called before the actors, and again while it raises DatabaseUnavailable or SchemaOutdated; probes answer meanwhile.
        stays: where a command has ended the worker, the process stays, idle and without a connection, until a signal ends it.

    Returns:
        The exit code: 0 after draining and after an interruption; 130 if the first signal was SIGINT. A process that does not end
        within the five seconds ends with 1.

    Raises:
        BadInput: an unknown name, an app without handlers, or what `check_process_kinds` raises.
        ActorFailed: see `supervise`. SettingsError: a probe port is in use. SchemaMismatch, QueryRefused: from `begin`.
    """
    unknown = set(names) - set(ACTORS)
    if unknown or not names:
        raise BadInput(f"unknown actor {', '.join(sorted(unknown)) or '(none named)'}; there are: {', '.join(ACTORS)}")
    if "worker" in names and app is not None and not app.served_kinds and app.default is None:
        raise BadInput("the app has no handler; register kinds with @app.kind() before the worker starts")
    if "worker" in names and app is not None:
        check_process_kinds(app)
    try:
        ending = await _run_together(names, settings, with_builtins(app), begin)
    except ExceptionGroup as group:
        failure = culprit(group)
        if isinstance(failure, LeaseholdError):
            raise failure from failure.__cause__
        raise
    if stays and not ending.has_begun:
        await _stay(settings)
    return ending.exit_code


async def _run_together(
    names: Sequence[str], settings: Settings, app: App, begin: Callable[[], Awaitable[object]] | None
) -> Ending:
    actors: list[Drainable] = []
    starting, begun = trio.CancelScope(), trio.Event()

    def drain() -> None:
        starting.cancel()
        for actor in actors:
            actor.drain()

    def interrupt() -> None:
        for worker in (each for each in actors if isinstance(each, Worker)):
            worker.interrupt()

    def end_keeper() -> None:
        for worker in (each for each in actors if isinstance(each, Worker)):
            worker.parts.keeper.must_end = True

    ending = Ending(drain, interrupt, *seconds_to_stop(settings), end_keeper)
    try:
        async with AsyncExitStack() as stack:
            label = f"leasehold {'+'.join(names)} {os.getpid()}"
            process = await stack.enter_async_context(open_process(settings, app, label))
            for name in names:
                actors += await _make(name, stack, process)
            beside = process.helpers()
            if settings.probe_port is not None:
                connection = await stack.enter_async_context(process.database.reserve("probes"))
                probes = Probes(settings, actors, connection, app.observers, lambda: ending.has_begun, begun.is_set)
                beside.append(partial(supervise, probes, nobody, process.outage))

            async def start() -> bool:
                with starting:
                    await until_there(begin, process.outage)
                    begun.set()
                return begun.is_set()

            await _run(process, actors, ending, beside, start)
    finally:
        ending.leave()
    return ending


async def _make(name: str, stack: AsyncExitStack, process: Process) -> list[Drainable]:
    database, settings, app, switchboard = process.database, process.settings, process.app, process.switchboard

    async def reserve(purpose: str) -> ReservedConnection:
        return await stack.enter_async_context(database.reserve(purpose))

    match name:
        case "worker":
            connections = (await reserve("dispatcher"), await reserve("settler"))
            return [Worker(process, connections, settings.worker_id or made_up_id())]
        case "scheduler":
            ticks = await reserve("scheduler")
            declared_by = settings.app or ("app" if app.schedules else None)

            async def start_up() -> None:
                await recover_stale(ticks)
                await declare_schedules(ticks, app.schedules, declared_by)

            return [
                Scheduler(ticks, database, switchboard, settings.poll_seconds, start_up),
                DueJobs(await reserve("due jobs"), switchboard, settings.poll_seconds),
            ]
        case _:
            grace, store = settings.session_grace_seconds, process.payloads.store
            reaper = Reaper(await reserve("reaper"), switchboard, settings.poll_seconds, app.observers, grace)
            process.outage.subscribe(reaper.database_lost)
            return [
                reaper,
                Janitor(await reserve("janitor"), settings.retention_days, store, settings.payloads_retention_days),
                Accountant(await reserve("accountant"), settings.retention_days),
            ]


async def _run(
    process: Process,
    actors: Sequence[Drainable],
    ending: Ending,
    beside: Sequence[Callable[[], Awaitable[None]]],
    start: Callable[[], Awaitable[bool]],
) -> None:
    async with trio.open_nursery() as helpers:
        helpers.start_soon(_end_with_the_loop)
        for helper in beside:
            helpers.start_soon(helper)
        await helpers.start(ending.listen)
        if await start():
            log.info("running %s", ", ".join(actor.name for actor in actors))
            async with trio.open_nursery() as nursery:
                for actor in actors:
                    nursery.start_soon(supervise, actor, nobody, process.outage)
        helpers.cancel_scope.cancel()


async def _stay(settings: Settings) -> None:
    with trio.open_signal_receiver(*stop_signals()) as signals:
        log.info("the worker was decommissioned; this process waits, idle, for the signal to end")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(answer_idly, settings)
            await anext(signals)
            nursery.cancel_scope.cancel()


async def _end_with_the_loop() -> None:
    await loop_ended()
    log.critical("the asyncio loop has ended; nothing can reach the database any more, so this process ends as well")
    os._exit(1)
