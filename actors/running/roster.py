"""The slots that a worker has, and what each of them runs."""

from __future__ import annotations

from collections.abc import Iterator

import trio

from leasehold.actors.attempts.held_job import HeldJob
from leasehold.actors.running.slot import Slot


class Roster:
    """The crew writes it, and every other part may read it.

    Attributes:
        slots: the present slots, and the task of each.
        begun: how many jobs they have taken since the start.
    """

    def __init__(self) -> None:
        self.slots: dict[Slot, trio.lowlevel.Task] = {}
        self.begun = 0

    def running(self) -> Iterator[HeldJob]:
        """The jobs whose handlers run. In any thread."""
        return (held for slot in list(self.slots) if (held := slot.held) is not None)

    @property
    def is_busy(self) -> bool:
        """Whether any handler runs."""
        return any(True for _ in self.running())
