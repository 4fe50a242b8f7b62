"""Runs due jobs one after the other, as a worker does: claim, handler, outcome."""

from __future__ import annotations

from datetime import timedelta
from time import monotonic

import trio

from leasehold.actors.attempts.announcer import SILENT
from leasehold.actors.attempts.held_job import HeldJob, Holdings
from leasehold.actors.attempts.outcome import Outcome
from leasehold.actors.running.job_host import WorkerJobHost
from leasehold.actors.running.middleware_chain import MiddlewareChains
from leasehold.actors.running.slot import Slot, SlotContext
from leasehold.actors.settling.settlement import Settlement
from leasehold.actors.shared.identity import WorkerIdentity
from leasehold.app import App
from leasehold.app.registry import with_builtins
from leasehold.database import Database
from leasehold.errors import BadInput

LEASE = timedelta(seconds=60)
HANDLER_CONNECTIONS = 5
MOST_DUE = 10_000


class Runner:
    """A worker with one slot that only does what it is told. No lease is renewed: a handler has a minute."""

    def __init__(self, database: Database, app: App) -> None:
        self._database = database
        self._app = with_builtins(app)
        self._identity = WorkerIdentity("testing")
        self._holdings: Holdings = {}
        self._settled: list[Outcome] = []
        self.host = WorkerJobHost(self._holdings, self._app)
        self._settlement = Settlement(database, self._identity, SILENT, self.host.progress_sink)
        context = SlotContext(
            self._identity,
            trio.CapacityLimiter(1),
            self._settled.append,
            MiddlewareChains(self._app),
            host=self.host,
        )
        self._slot = Slot(context)

    async def run_next(self, queues: list[str]) -> int | None:
        """Run the best due job of these queues (all if empty) and write its outcome; returns its id, None without one."""
        await self._database.call_value("make_jobs_due", MOST_DUE)
        rows = await self._database.call(
            "claim_jobs", self._identity.incarnation, "testing", queues, self._app.served_kinds, 1, LEASE
        )
        if not rows:
            return None
        kind = self._app.find(rows[0]["kind"])
        if kind.runs == "process":
            raise BadInput(f"kind {kind.name} runs in a process of its own, which the test kit does not start")
        held = HeldJob(rows[0], kind, monotonic(), LEASE.total_seconds(), self._identity.incarnation)
        self._holdings[held.id] = held
        await self._slot.run_job(held)
        await self._settle()
        del self._holdings[held.id]
        return held.id

    async def _settle(self) -> None:
        batch, self._settled[:] = list(self._settled), []
        while batch:
            batch = await self._settlement.write(batch)
