"""Who a worker is."""

from __future__ import annotations

from uuid import UUID, uuid4

import msgspec


class WorkerIdentity(msgspec.Struct):
    """Who a worker is, and on which terms it holds jobs. All its actors share one, which `worker/rebirth.py` alone
    changes: it gives it a new incarnation when the database begins a new epoch. So nobody keeps a copy of that.

    Attributes:
        worker_id: as configured, or made up; for people and for the rows of its jobs.
        incarnation: of this process in this epoch. With a job's id and attempt it is the fencing token.
        queues: from which it claims; none: from all.
        lease_seconds: for which a claim or a renewal holds, where the kind does not say.
        renew_seconds: between two renewals of a job.
        is_turning: it takes a new incarnation just now, and it is not known yet which jobs it keeps.
    """

    worker_id: str
    incarnation: UUID = msgspec.field(default_factory=uuid4)
    queues: tuple[str, ...] = ()
    lease_seconds: float = 60.0
    renew_seconds: float = 20.0
    is_turning: bool = False

    def serves(self, queue: str | None) -> bool:
        """Whether it claims from this queue; None stands for all queues."""
        return queue is None or not self.queues or queue in self.queues
