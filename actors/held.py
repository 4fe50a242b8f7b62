"""A job under this worker's lease, from claim to acknowledged outcome."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
import trio

from leasehold.actors.decisions import lease_margin
from leasehold.actors.extras import extras_of
from leasehold.database import Row
from leasehold.desk import Desk
from leasehold.job import Job
from leasehold.kind import Kind

SHUTDOWN = "shutdown"
"""Why a handler is cancelled whose worker ends; its job is handed back."""


class Held:
    """One claimed job. Its owner is the worker's trio thread.

    The lease keeper, in a thread of its own, reads `id`, `attempt`, `lease` and `started` and writes `trusted_until`,
    `renew_at` and `shown`: single assignments, which is all that the two share.
    """

    __slots__ = (
        "attempt", "claimed_at", "id", "kind", "lease", "lost", "renew_at", "row", "scope", "settling", "shown", "started",
        "trusted_until", "watched",
    )  # fmt: skip

    def __init__(self, row: Row, kind: Kind[..., Any], claimed_at: float, renew_after: float) -> None:
        self.id: int = row["job_id"]
        self.attempt: int = row["attempt"]
        self.row = row
        self.kind = kind
        self.claimed_at = claimed_at
        self.lease: float = row["lease_seconds"]
        self.trusted_until = claimed_at + self.lease - lease_margin(self.lease)
        self.renew_at = claimed_at + min(renew_after, self.lease / 3)
        self.started: float | None = None
        self.scope: trio.CancelScope | None = None
        self.lost: str | None = None
        self.settling = False
        self.shown = False
        self.watched: trio.CancelScope | None = None

    def lose(self, reason: str) -> None:
        """The lease is gone: cancel the handler. Nothing is written for this attempt any more."""
        if self.lost is None and not self.settling:
            self.lost = reason
            if self.scope is not None:
                self.scope.cancel(reason)

    def job(self, incarnation: UUID, worker_id: str, desk: Desk | None = None) -> Job:
        """What the handler sees. `desk` is what its methods ask; without one they say that there is no worker at hand."""
        row = self.row
        extras = extras_of(row)
        metadata = row["metadata"]
        return Job(
            id=self.id,
            kind=row["kind"],
            queue=row["queue"],
            attempt=self.attempt,
            max_attempts=row["max_attempts"],
            incarnation=incarnation,
            worker_id=worker_id,
            key=row["key"],
            priority=row["priority"],
            metadata=None if metadata is None else msgspec.json.decode(metadata),
            created_at=row["created_at"],
            run_at=row["run_at"],
            chain_id=extras.get("chain_id", self.id),
            chain_position=extras.get("chain_position", 0),
            traceparent=extras.get("traceparent"),
            _desk=desk,
        )


Holdings = dict[int, Held]
"""What this worker holds, by job id."""


def drop(holdings: Holdings, held: Held) -> None:
    """This attempt is held no more. A newer attempt of the same job, claimed meanwhile, stays."""
    if holdings.get(held.id) is held:
        del holdings[held.id]
