"""Where running handlers get their transactions and payloads. A handler that asks for nothing costs nothing here."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from threading import get_ident
from typing import Any

from leasehold.actors.attempts.held_job import HeldJob, Holdings
from leasehold.actors.attempts.outcome import Outcome, Rescheduled, ended, is_outage, spared
from leasehold.actors.attempts.progress import ProgressBuffer
from leasehold.actors.running.attempt_session import WorkerAttemptSession
from leasehold.actors.running.large_values import LargeValues, fence_of
from leasehold.app import App
from leasehold.database import Database
from leasehold.database.border import open_further
from leasehold.errors import BadInput, LeaseLost
from leasehold.jobs.encoding import check_job
from leasehold.jobs.endings import WaitFor
from leasehold.jobs.job_host import Context
from leasehold.jobs.new_job import NewJob
from leasehold.jobs.transactions import need_thread_of_worker
from leasehold.payloads.archive import Archive
from leasehold.payloads.options import PayloadOptions

MOST_SPARED = 5
MOST_KNOWN = 10_000


class HostedAttempt:
    """What one running attempt can ask of its worker. It names the attempt by its `HeldJob`, not by id and number:
    those may come again after a failover, or belong to a later claim.
    """

    __slots__ = ("_held", "_host")

    def __init__(self, host: WorkerJobHost, held: HeldJob) -> None:
        self._host = host
        self._held = held

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(None), ())

    @property
    def progress_sink(self) -> ProgressBuffer:
        """Takes the progress and log lines of the handler."""
        return self._host.progress_sink

    @property
    def state(self) -> Context:
        """What the handlers of the worker share."""
        return self._host.state

    @property
    def cancel_reason(self) -> str | None:
        """Why this attempt is being cancelled, if it is. In any thread."""
        return self._held.cancel_reason

    @property
    def cancel_note(self) -> tuple[str | None, str | None]:
        """What was said with the cancel, and who said it. In any thread."""
        return self._held.cancel_note

    def archive(self) -> Archive:
        """The payloads; what is saved carries the fencing token of this attempt."""
        return self._host.archive(self._held)

    def session(self) -> WorkerAttemptSession:
        """The session of this attempt. Raises LeaseLost when it has ended."""
        return self._host.session(self._held)


class WorkerJobHost:
    """Makes the session of an attempt when its handler first asks.

    Attributes:
        sessions: those of the attempts that asked and have not ended.
        progress_sink: takes the progress and log lines of handlers.
        state: what the app's `on_start` functions have put there for all of them.
        pool: connections of the handlers; set while the worker runs.
        large: args and outputs that lie in the payload store.
        spared: how often an outage of the database has ended an attempt of a job, by its id.
    """

    def __init__(
        self, holdings: Holdings | None = None, app: App | None = None, payloads: PayloadOptions | None = None
    ) -> None:
        self.sessions: dict[HeldJob, WorkerAttemptSession] = {}
        self.progress_sink = ProgressBuffer()
        self.state = Context()
        self.pool: Database | None = None
        self.spared: dict[int, int] = {}
        self._thread = 0
        self._holdings = Holdings() if holdings is None else holdings
        self._app = app or App()
        self._payloads = payloads or PayloadOptions()
        self.large = LargeValues(self._payloads, self.archive)

    def session(self, held: HeldJob) -> WorkerAttemptSession:
        """The session of this running attempt. Raises LeaseLost when it has ended."""
        known = self.sessions.get(held)
        if known is not None:
            return known
        if held.settling or self._holdings.get(held.id) is not held:
            raise LeaseLost(f"attempt {held.attempt} of job {held.id} has ended")
        made = self.sessions[held] = WorkerAttemptSession(
            held, self.database, self.check, self.progress_sink, self.large
        )
        return made

    def archive(self, held: HeldJob) -> Archive:
        """The payloads; what is saved carries the fencing token that the attempt has by then."""
        return Archive(self.database(), self._payloads.store, self._payloads.limit, partial(fence_of, held))

    @asynccontextmanager
    async def open(self, database: Database, size: int, timeout: float | None = None) -> AsyncGenerator[None]:
        """Open a pool for handlers while the block lasts, with `size` connections at the most. `timeout`: as `open_further`."""
        async with open_further(database, size, timeout) as pool:
            self.pool = pool
            self._thread = get_ident()
            try:
                yield
            finally:
                self.pool = None

    async def begin_atomic(self, held: HeldJob) -> None:
        """Open the transaction that an atomic handler runs in. Raises LeaseLost, DatabaseUnavailable."""
        await self.session(held).begin_atomic()

    async def close(self, held: HeldJob, end: Any) -> Outcome:
        """The outcome of an attempt whose handler returned `end`. See `WorkerAttemptSession.close`."""
        session = self.sessions.get(held)
        if session is not None:
            return await session.close(end)
        outcome = ended(held, end, (), self.check, self.large.most)
        return await self.large.put_away(outcome) if self.large.is_large(outcome) else outcome

    def waits(self, held: HeldJob, wait: WaitFor) -> Outcome:
        """The outcome of a handler that raised `job.wait_for(...)`."""
        return ended(held, wait, (), self.check)

    async def spare(self, held: HeldJob, failure: BaseException) -> Rescheduled | None:
        """The outcome of an attempt that an outage of our database has ended: it is not charged. None for any other failure.

        A job whose own statements break their connections would never end so: a few times in a process, then it pays.
        """
        if not is_outage(failure):
            session = self.sessions.get(held)
            if session is None:
                return None
            await session.undo()
            if not session.was_cut:
                return None
        if len(self.spared) >= MOST_KNOWN:
            self.spared.clear()
        times = self.spared[held.id] = self.spared.get(held.id, 0) + 1
        return None if times > MOST_SPARED else spared(held, failure, times)

    async def leave(self, held: HeldJob) -> None:
        """The handler has ended: roll back what it left open."""
        session = self.sessions.pop(held, None)
        if session is not None:
            await session.undo()

    def database(self) -> Database:
        """The pool. Raises BadInput outside of a running worker's event loop."""
        if self.pool is None:
            raise BadInput("handlers have transactions only while their worker runs")
        need_thread_of_worker(self._thread)
        return self.pool

    def check(self, job: NewJob[Any]) -> NewJob[Any]:
        """The new job, checked against its kind where this worker knows the kind. Raises BadInput."""
        return check_job(job, self._app.find(job.kind) if job.kind in self._app else None)
