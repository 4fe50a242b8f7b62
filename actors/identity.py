"""Who a worker is, and what it may do just now."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from typing import Literal
from uuid import UUID, uuid4

import msgspec

from leasehold.jobs.endings import RetryPolicy

State = Literal["ready", "paused", "draining"]


class WorkerIdentity(msgspec.Struct):
    """The names of a worker and the terms on which it holds jobs. All its actors share one object.

    Only `worker/epoch_change.py` changes it: it sets a new incarnation when the database begins a new epoch. So no other
    code keeps a copy of the incarnation.

    Attributes:
        worker_id: configured or made up; for people and for the rows of its jobs.
        incarnation: the id of this process in this epoch. With a job's id and attempt it is the fencing token.
        queues: the queues that it claims from; empty: all.
        lease_seconds: how long a claim or a renewal holds, unless the kind says otherwise.
        renew_seconds: the time between two renewals of a job.
        retry: the back-off of kinds that have none of their own.
        is_changing_epoch: whether it takes a new incarnation at present, and does not know yet which jobs it keeps.
    """

    worker_id: str
    incarnation: UUID = msgspec.field(default_factory=uuid4)
    queues: tuple[str, ...] = ()
    lease_seconds: float = 60.0
    renew_seconds: float = 20.0
    retry: RetryPolicy = RetryPolicy()
    is_changing_epoch: bool = False

    def serves(self, queue: str | None) -> bool:
        """Whether it claims from this queue; None stands for all queues."""
        return queue is None or not self.queues or queue in self.queues


def made_up_id() -> str:
    """An id for a worker that was given none: the host and something random."""
    return f"{socket.gethostname()}-{secrets.token_hex(3)}"


class WorkerMode:
    """One record that all actors of a worker read. `Worker`, `Controls` and `Crew` write it, through the methods.

    States: *ready* claims and runs jobs. *paused* claims nothing; running jobs go on. *draining* claims nothing more,
    hands back what has not started, and ends when the running jobs have ended. A worker goes from ready to paused and
    back; from both to draining, and never back. An *interrupted* worker drains and also cancels what runs.

    Attributes:
        state: as the worker's row shows it.
        slots: how many jobs run at once.
        is_interrupted: jobs that have not begun are handed back instead of run.
    """

    def __init__(self, slots: int) -> None:
        self.state: State = "ready"
        self.slots = slots
        self.is_interrupted = False
        self._listeners: list[Callable[[], object]] = []

    @property
    def is_paused(self) -> bool:
        """Whether it claims nothing until it is resumed."""
        return self.state == "paused"

    @property
    def is_draining(self) -> bool:
        """Whether it claims nothing more, for good."""
        return self.state == "draining"

    def subscribe(self, listener: Callable[[], object]) -> None:
        """Have this called after each change."""
        self._listeners.append(listener)

    def set_paused(self, paused: bool) -> None:
        """Pause or resume. A draining worker stays one."""
        if not self.is_draining:
            self.state = "paused" if paused else "ready"
            self._changed()

    def scale(self, slots: int) -> None:
        """Run this many jobs at once."""
        self.slots = slots
        self._changed()

    def drain(self) -> None:
        """End in good order."""
        self.state = "draining"
        self._changed()

    def interrupt(self) -> None:
        """End now: drain, and hand back jobs that have not begun."""
        self.is_interrupted = True
        self.drain()

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()
