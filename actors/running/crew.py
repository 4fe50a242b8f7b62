"""The slots of a worker: tasks that each run one job after another. There may be more or fewer of them at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import trio

from leasehold.actors.attempts.held_job import HeldJob, Holdings, drop
from leasehold.actors.attempts.outcome import Released
from leasehold.actors.claiming.backlog import Backlog
from leasehold.actors.claiming.dispatcher import Dispatcher
from leasehold.actors.running.slot import Slot
from leasehold.actors.settling.settler import Settler

JOBS_PER_TURN = 10


class Crew:
    """Has the jobs of the backlog run.

    Attributes:
        slots: those that there are now, and the task of each. begun: how many jobs they have taken since the start.
        interrupted: jobs that have not begun are handed back instead of run.
    """

    def __init__(
        self, worker_id: str, make_slot: Callable[[], Slot], backlog: Backlog, dispatcher: Dispatcher, settler: Settler,
        holdings: Holdings,
    ) -> None:  # fmt: skip
        self._worker_id = worker_id
        self._make_slot = make_slot
        self._backlog = backlog
        self._dispatcher = dispatcher
        self._settler = settler
        self._holdings = holdings
        self._numbered = 0
        self._nursery: trio.Nursery | None = None
        self._slots: dict[Slot, trio.lowlevel.Task] = {}
        self.interrupted = False
        self.begun = 0

    @property
    def slots(self) -> Mapping[Slot, trio.lowlevel.Task]:
        """Those that there are now."""
        return self._slots

    def running(self) -> Iterator[HeldJob]:
        """The jobs whose handlers run."""
        return (slot.held for slot in self._slots if slot.held is not None)

    def begin(self, nursery: trio.Nursery, count: int) -> None:
        """Start so many slots; they end when the backlog is closed and empty."""
        self._nursery = nursery
        self._start(count)

    def scale(self, count: int) -> int:
        """Have so many slots; those that are too many end with the job that they run. Returns how many there were to be."""
        was, self._dispatcher.slots = self._dispatcher.slots, count
        if count < was:
            self._backlog.dismiss(was - count)
        else:
            self._start(count - was - self._backlog.recall(count - was))
        self._dispatcher.look_again()
        return was

    def _start(self, count: int) -> None:
        assert self._nursery is not None, "the worker does not run yet"
        for _ in range(count):
            self._numbered += 1
            # Trio names threads after the task that started them: that is how stacks are found.
            self._nursery.start_soon(self._serve, self._make_slot(), name=f"slot {self._numbered} of {self._worker_id}")

    async def _serve(self, slot: Slot) -> None:
        """Run jobs in a slot until the backlog is closed or lets it go. Lets the other tasks turn every few jobs."""
        turns = 0
        last: HeldJob | None = None

        async def take() -> HeldJob | None:
            nonlocal turns, last
            if last is not None and not last.settling:
                drop(self._holdings, last)
            last = None
            turns += 1
            if turns % JOBS_PER_TURN == 0:
                self._dispatcher.slot_freed()
                await trio.lowlevel.checkpoint()
                if self._backlog.lets_go():
                    return None
            last = await self._next_job()
            return last

        self._slots[slot] = trio.lowlevel.current_task()
        try:
            await slot.run_jobs(take)
        finally:
            del self._slots[slot]

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
            if not self.interrupted:
                self.begun += 1
                return held
            self._settler.put(Released(held))
