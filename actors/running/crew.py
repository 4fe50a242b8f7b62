"""The slots of a worker: tasks that each run one job after another. Their number may change at any time."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import trio

from leasehold.actors.attempts.context import WorkerContext
from leasehold.actors.attempts.held_job import UNRENEWED, HeldJob
from leasehold.actors.attempts.outcome import Failed, Released
from leasehold.actors.leases.backlog import Backlog
from leasehold.actors.leases.dispatcher import Dispatcher
from leasehold.actors.running.settler import Settler
from leasehold.actors.running.slot import Slot, SlotContext

log = logging.getLogger(__name__)

JOBS_PER_TURN = 10
NOT_ITS_NURSERY = (
    "its handler cancelled the nursery that it was called in, which is the worker's; it may cancel its own"
)
CANCELLED_US = {"type": "NurseryCancelled", "message": NOT_ITS_NURSERY, "traceback": ""}


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


class Crew:
    """Runs the jobs of the backlog, in as many slots as the worker's mode says."""

    def __init__(
        self,
        worker: WorkerContext,
        slots: SlotContext,
        roster: Roster,
        backlog: Backlog,
        dispatcher: Dispatcher,
        settler: Settler,
    ) -> None:
        self._mode = worker.mode
        self._holdings = worker.holdings
        self._context = slots
        self._roster = roster
        self._backlog = backlog
        self._dispatcher = dispatcher
        self._settler = settler
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
                nursery.start_soon(self._serve, slot, name=name)
            if not nursery.cancel_scope.cancel_called:
                return
            if slot.cut_short is not None:
                log.error("job %s: %s", slot.cut_short.id, NOT_ITS_NURSERY, extra={"job_id": slot.cut_short.id})
                self._settler.put(Failed(slot.cut_short, CANCELLED_US))

    async def _serve(self, slot: Slot) -> None:
        """Run jobs in a slot until the backlog is closed or lets it go. Lets the other tasks turn every few jobs."""
        turns = 0
        last: HeldJob | None = None

        async def take() -> HeldJob | None:
            nonlocal turns, last
            if last is not None and not last.settling:
                self._let_go(last)
            last = None
            turns += 1
            if turns % JOBS_PER_TURN == 0:
                self._dispatcher.slot_freed()
                await trio.lowlevel.checkpoint()
                if self._backlog.lets_go():
                    return None
            last = await self._next_job()
            return last

        self._roster.slots[slot] = trio.lowlevel.current_task()
        try:
            await slot.run_jobs(take)
        finally:
            del self._roster.slots[slot]

    def _let_go(self, held: HeldJob) -> None:
        """Drop a job that has ended without an outcome. One that was given up for lack of a renewal stays ours until
        its lease runs out: otherwise the next reconciliation would find an unknown claim and hand it back.
        """
        held.is_left = held.lost == UNRENEWED
        if not held.is_left:
            self._holdings.drop(held)

    async def _next_job(self) -> HeldJob | None:
        """A job to run, when there is room for its outcome; None when the backlog is closed, or lets the slot go."""
        while True:
            if self._settler.is_crowded:
                await self._settler.room()
            if not len(self._backlog):
                self._dispatcher.slot_freed()
            held = await self._backlog.take()
            if held is None:
                return None
            if not self._mode.is_interrupted:
                self._roster.begun += 1
                return held
            self._settler.put(Released(held))
