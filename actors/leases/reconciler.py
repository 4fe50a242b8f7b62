"""Keeps what the database says this worker holds the same as what it runs, and hands back what has not started."""

from __future__ import annotations

import logging
from time import monotonic

from leasehold.actors.attempts.context import WorkerContext
from leasehold.actors.attempts.held_job import HeldJob
from leasehold.database import Caller
from leasehold.errors import EpochOver

log = logging.getLogger(__name__)

RECONCILE_SECONDS = 10.0
BUSY_SECONDS = 1.0  # until a job whose row another session holds is handed back again


class Reconciler:
    """Of one dispatcher, over its connection, while no claim is in flight.

    Attributes:
        is_demanded: whether a claim or a release may have been lost, so that only a reconciliation tells what we hold. It is
            set by the dispatcher, and then comes before anything else.
        has_nothing: whether there was no job here nor there at the last reconciliation, and none came since.
        handed_back: jobs released because they had not started.
        leaked: jobs released whose claim was never heard of.
    """

    def __init__(self, worker: WorkerContext, connection: Caller) -> None:
        self._identity = worker.identity
        self._holdings = worker.holdings
        self._announcer = worker.announcer
        self._connection = connection
        self._opened = 0
        self._due_at = monotonic() + RECONCILE_SECONDS
        self.is_demanded = self.has_nothing = False
        self.handed_back = self.leaked = 0

    @property
    def is_new_connection(self) -> bool:
        """Whether the connection was reopened since the last reconciliation: the old one may have lost a claim."""
        return self._connection.opened != self._opened

    @property
    def is_due(self) -> bool:
        """Whether to reconcile now. Every ten seconds, but not while there was no job here nor there and none came."""
        is_idle = self.has_nothing and not self._holdings
        return self.is_demanded or self.is_new_connection or (monotonic() >= self._due_at and not is_idle)

    async def reconcile(self) -> None:
        """Compare what the database says we hold with what we run. Raises DatabaseUnavailable and EpochOver.

        No claim is in flight meanwhile. So a job that the database knows and we do not has a claim that we never heard
        of: it is handed back. A job that we run and the database does not know is lost.
        """
        before = {(held.id, held.attempt) for held in self._holdings.values()}
        incarnation = self._identity.incarnation
        rows = await self._connection.call("held_jobs", incarnation)
        if incarnation is not self._identity.incarnation:
            raise EpochOver
        self._opened = self._connection.opened
        self._due_at = monotonic() + RECONCILE_SECONDS
        self.is_demanded = False
        theirs = {(row["job_id"], row["attempt"]) for row in rows}
        self.has_nothing = not theirs and not before
        leaked = [identity for identity in theirs - before if identity[0] not in self._holdings]
        if leaked:
            await self._release(leaked)
            self.leaked += len(leaked)
            fields = {"job_ids": [job_id for job_id, _ in leaked]}
            log.warning("handed back %d jobs whose claim was never heard of", len(leaked), extra=fields)
        for job_id, attempt in before - theirs:
            held = self._holdings.get(job_id)
            if held is not None and held.attempt == attempt:
                held.lose("taken_by_another_worker")
                if held.is_left:
                    self._holdings.drop(held)

    async def hand_back(self, jobs: list[HeldJob]) -> None:
        """Release jobs that have not started. Raises DatabaseUnavailable."""
        # Dropped first: if the release is lost, nobody renews them, and the next reconciliation finds them.
        for held in jobs:
            self._holdings.drop(held)
        if jobs:
            await self._release([(held.id, held.attempt) for held in jobs])
            self.handed_back += len(jobs)
            self._announcer.handed_back(jobs)

    async def _release(self, identities: list[tuple[int, int]]) -> None:
        self.has_nothing = False
        identities.sort()
        lists = [list(each) for each in zip(*identities, strict=True)]
        rows = await self._connection.call("release_jobs", self._identity.incarnation, *lists)
        if any(row["reason"] == "busy" for row in rows):
            self._due_at = min(self._due_at, monotonic() + BUSY_SECONDS)
