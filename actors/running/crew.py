"""The crew of a worker: its slots, each in a nursery of its own. Their number may change at any time."""

from __future__ import annotations

import logging

import trio

from leasehold.actors.attempts.outcome import Failed
from leasehold.actors.running.slot import Slot, SlotContext

log = logging.getLogger(__name__)

NOT_ITS_NURSERY = (
    "its handler cancelled the nursery that it was called in, which is the worker's; it may cancel its own"
)
CANCELLED_US = {"type": "NurseryCancelled", "message": NOT_ITS_NURSERY, "traceback": ""}


class Crew:
    """As many slots as the worker's mode says."""

    def __init__(self, slots: SlotContext) -> None:
        self._context = slots
        self._mode = slots.mode
        self._backlog = slots.backlog
        self._numbered = 0
        self._nursery: trio.Nursery | None = None

    def begin(self, nursery: trio.Nursery) -> None:
        """Start the slots; they end when the backlog is closed and empty."""
        self._nursery = nursery
        self._start(self._mode.slots)

    def scale(self, count: int) -> int:
        """Have `count` slots. Surplus ones end after the job that they run. Returns the former number."""
        was = self._mode.slots
        self._context.threads.total_tokens = count
        if self._context.processes is not None:
            self._context.processes.resize(count)
        if count < was:
            self._backlog.dismiss(was - count)
        else:
            self._start(count - was - self._backlog.recall(count - was))
        self._mode.scale(count)
        return was

    def _start(self, count: int) -> None:
        assert self._nursery is not None, "the worker does not run yet"
        for _ in range(count):
            self._numbered += 1
            # Trio names threads after the task that started them: that is how stacks are found.
            self._nursery.start_soon(self._keep_serving, f"slot {self._numbered} of {self._context.identity.worker_id}")

    async def _keep_serving(self, name: str) -> None:
        """Run jobs in a slot with its own nursery: a handler that cancels the nursery above it stops no other slot."""
        while True:
            slot = Slot(self._context)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(slot.run, name=name)
            if not nursery.cancel_scope.cancel_called:
                return
            if slot.cut_short is not None:
                log.error("job %s: %s", slot.cut_short.id, NOT_ITS_NURSERY, extra={"job_id": slot.cut_short.id})
                self._context.outcomes.put(Failed(slot.cut_short, CANCELLED_US))
