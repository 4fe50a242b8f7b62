"""Who a worker is."""

from __future__ import annotations

import secrets
import socket
from uuid import UUID, uuid4

import msgspec

from leasehold.jobs.endings import RetryPolicy


class WorkerIdentity(msgspec.Struct):
    """The names of a worker and the terms on which it holds jobs. All its actors share one object.

    Only `worker/rebirth.py` changes it: it sets a new incarnation when the database begins a new epoch. So no other
    code keeps a copy of the incarnation.

    Attributes:
        worker_id: configured or made up; for people and for the rows of its jobs.
        incarnation: the id of this process in this epoch. With a job's id and attempt it is the fencing token.
        queues: the queues that it claims from; empty: all.
        lease_seconds: how long a claim or a renewal holds, unless the kind says otherwise.
        renew_seconds: the time between two renewals of a job.
        retry: the back-off of kinds that have none of their own.
        is_turning: whether it takes a new incarnation at present, and does not know yet which jobs it keeps.
    """

    worker_id: str
    incarnation: UUID = msgspec.field(default_factory=uuid4)
    queues: tuple[str, ...] = ()
    lease_seconds: float = 60.0
    renew_seconds: float = 20.0
    retry: RetryPolicy = RetryPolicy()
    is_turning: bool = False

    def serves(self, queue: str | None) -> bool:
        """Whether it claims from this queue; None stands for all queues."""
        return queue is None or not self.queues or queue in self.queues


def made_up_id() -> str:
    """An id for a worker that was given none: the host and something random."""
    return f"{socket.gethostname()}-{secrets.token_hex(3)}"
