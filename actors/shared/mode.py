"""What a worker may do just now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

State = Literal["ready", "paused", "draining"]


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
            self._tell()

    def scale(self, slots: int) -> None:
        """Run this many jobs at once."""
        self.slots = slots
        self._tell()

    def drain(self) -> None:
        """End in good order."""
        self.state = "draining"
        self._tell()

    def interrupt(self) -> None:
        """End now: drain, and hand back jobs that have not begun."""
        self.is_interrupted = True
        self.drain()

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()
