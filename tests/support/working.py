"""Actors in the test's own process, on a real database."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
import trio

from leasehold import RetryPolicy, checkpoint
from leasehold.actors.attempts.context import WorkerContext, context_of
from leasehold.actors.epochs import EpochWatch
from leasehold.actors.leases import keeper
from leasehold.actors.process import Process
from leasehold.actors.supervise import Actor, supervise
from leasehold.actors.upkeep.due_jobs import DueJobs
from leasehold.actors.upkeep.reaper import Reaper
from leasehold.actors.worker import worker as worker_module
from leasehold.actors.worker.machine import Reading
from leasehold.actors.worker.worker import Worker
from leasehold.app import App
from leasehold.client import Client
from leasehold.database import Database, open_database
from leasehold.notify.listener import Listener
from leasehold.notify.switchboard import Switchboard
from leasehold.payloads.options import payload_options
from leasehold.records.jobs import JobRecord
from leasehold.settings import Settings
from tests.support.waiting import PATIENCE, eventually, until

FINISHED = ("completed", "failed", "cancelled")


def quick_settings(**changes: Any) -> Settings:
    """Settings whose times suit a test."""
    given: dict[str, Any] = {
        "lease_seconds": 60.0,  # a busy machine costs none; a test that loses one says how
        "renew_seconds": 0.5,
        "poll_seconds": 0.5,
        "heartbeat_seconds": 1.0,
        "notify": True,
        "memory_backoff": 1.0,
        "cpu_backoff": 1.0,  # tests keep a machine busy
    }
    return Settings(**{**given, **changes})


def without_renewals(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Settings for handlers that lose their lease on purpose, or complete their job over a connection of their own: a
    renewal would cancel them before they come to the point."""
    monkeypatch.setattr(keeper, "SHOW_RUNNING_AFTER", 600.0)
    return {"lease_seconds": 60.0, "renew_seconds": 20.0}


def warnings_about(job_id: int, caplog: pytest.LogCaptureFixture) -> list[str]:
    """What workers complained of about a job; that the machine is slow is none of it."""
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    return [warning for warning in warnings if re.search(rf"\bjob {job_id}\b", warning)]


@contextmanager
def unhurried() -> Generator[None]:
    """Workers have as long to end as a test waits: on a busy machine their few seconds are over before all is written."""
    with pytest.MonkeyPatch.context() as patched:
        for limit in ("HAND_BACK_SECONDS", "FLUSH_SECONDS", "LEAVE_SECONDS"):
            patched.setattr(worker_module, limit, PATIENCE)
        yield


def worker_context(database: Database, app: App | None = None, **settings: Any) -> WorkerContext:
    """What the parts of worker `w1` share, in a process of its own."""
    return context_of(Process(database, quick_settings(**settings), app or App()), "w1")


def app_with_a_gate() -> tuple[App, threading.Event, threading.Event]:
    """`wait` says that it has begun, and ends when it may."""
    app, begun, may_end = App(), threading.Event(), threading.Event()

    @app.kind(runs="thread", retry=RetryPolicy(initial=0))
    def wait() -> str:
        begun.set()
        while not may_end.wait(0.01):
            checkpoint()
        return "done"

    return app, begun, may_end


class Working:
    """A worker that runs, and a client beside it."""

    def __init__(self, database: Database, switchboard: Switchboard, worker: Worker, *, hears: bool) -> None:
        self._hears = hears
        self.database = database
        self.switchboard = switchboard
        self.worker = worker
        self.client = Client(database)
        self.ended = trio.Event()

    async def ready(self) -> None:
        """Until the worker has looked for jobs and found none, and hears what others say, if it is to."""

        async def is_idle() -> bool:
            rows = await self.database.fetch(
                "select 1 from leasehold.workers where idle and incarnation = $1",
                self.worker.parts.identity.incarnation,
            )
            return bool(rows)

        await eventually(is_idle)
        await until(lambda: self.switchboard.listening or not self._hears)

    async def finished(self, job_id: int, timeout: float = PATIENCE) -> JobRecord:
        """The job, once it has finished."""
        return await self.in_state(job_id, *FINISHED, timeout=timeout)

    async def in_state(self, job_id: int, *states: str, timeout: float = PATIENCE) -> JobRecord:
        """The job, once it is in one of these states."""

        async def probe() -> JobRecord | None:
            job = await self.client.get(job_id)
            return job if job.state in states else None

        return await eventually(probe, timeout)

    async def run(self, kind: str, args: dict[str, Any] | None = None, **options: Any) -> JobRecord:
        """Enqueue a job and wait for its end."""
        return await self.finished(await self.client.enqueue(kind, args, **options))

    async def stopped(self, timeout: float = PATIENCE) -> None:
        """Until the worker has ended."""
        with trio.fail_after(timeout):
            await self.ended.wait()


@asynccontextmanager
async def working(
    database_url: str,
    app: App,
    *,
    beside: Sequence[Callable[[Database, Switchboard], Actor]] = (),
    worker_id: str = "w1",
    read: Callable[[], Reading] | None = None,
    **settings: Any,
) -> AsyncGenerator[Working]:
    """A worker that serves `app`, interrupted at the end of the block if it still runs."""
    chosen, epochs = quick_settings(**settings), EpochWatch()
    with unhurried():
        async with (
            open_database(
                database_url, application_name=f"test {worker_id}", timeout=PATIENCE, greeter=epochs
            ) as database,
            database.reserve("dispatcher") as claims,
            database.reserve("settler") as outcomes,
            trio.open_nursery() as nursery,
        ):
            process = Process(database, chosen, app, epochs=epochs, payloads=payload_options(chosen))
            switchboard = process.switchboard
            worker = Worker(process, (claims, outcomes), worker_id, read)
            running = Working(database, switchboard, worker, hears=chosen.notify)
            if chosen.notify:
                nursery.start_soon(supervise, Listener(database, switchboard))
            for make in beside:
                nursery.start_soon(supervise, make(database, switchboard))
            nursery.start_soon(_run, running)
            try:
                yield running
            finally:
                with trio.CancelScope(shield=True):
                    worker.interrupt()
                    await running.stopped()
            nursery.cancel_scope.cancel()


async def _run(running: Working) -> None:
    try:
        await supervise(running.worker)
    finally:
        running.ended.set()


def a_reaper(database: Database, switchboard: Switchboard) -> Reaper:
    """A reaper over the pool."""
    return Reaper(database, switchboard, poll_seconds=0.5)


def a_scheduler(database: Database, switchboard: Switchboard) -> DueJobs:
    """A scheduler over the pool."""
    return DueJobs(database, switchboard, poll_seconds=0.5)


__all__ = [
    "Working",
    "a_reaper",
    "a_scheduler",
    "app_with_a_gate",
    "quick_settings",
    "unhurried",
    "until",
    "warnings_about",
    "without_renewals",
    "worker_context",
    "working",
]
