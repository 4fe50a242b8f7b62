"""The watcher starts a sibling for each job that runs for long, and beats the pulse of the worker's event loop.

A sibling holds the job's cancel scope and lives no longer than the handler. The claim's lease is long enough for a short job,
so a job of a few milliseconds seldom costs one. The pulse is what the worker's thread and the keeper's know of each other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sized
from time import monotonic

import trio

from leasehold.actors.attempts.held_job import HeldJob
from leasehold.concurrency.signal import Signal

WATCH_SECONDS = 0.1
STANDSTILL_SECONDS = 1.0


class Pulse:
    """Of the worker's event loop: beaten by the watcher, read by the keeper. It rests while the worker holds no job.

    Attributes:
        at: when the event loop last ran.
        thread: of the event loop.
        is_resting: whether nobody beats it.
    """

    def __init__(self) -> None:
        self.at = monotonic()
        self.thread = threading.get_ident()
        self.is_resting = False
        self._stirred = Signal()

    def beat(self) -> None:
        """The event loop runs."""
        self.at = monotonic()

    def stir(self) -> None:
        """Jobs were claimed: the rest is over."""
        self.beat()  # first: the keeper's thread believes the last beat as soon as nobody rests
        self.is_resting = False
        self._stirred.set()

    async def rest(self) -> None:
        """Return at the next `stir`."""
        self.is_resting = True
        await self._stirred.wait()


async def stand_by(held: HeldJob) -> None:
    """Cancel the handler when its lease can no longer be trusted; end when the handler ends.

    The keeper moves `trusted_until` on with each renewal, counted from the moment before it sends the renewal.
    """
    held.watched = held.watched or trio.CancelScope()
    with held.watched:
        while held.lost is None and not held.settling:
            now = monotonic()
            if now >= held.trusted_until:
                held.lapse(now)
                return
            await trio.sleep(held.trusted_until - now)


class Watcher:
    """Starts siblings, and beats the pulse that shows the event loop running. It rests while the worker holds no job.

    Args:
        running: the jobs whose handlers run.
        holdings: the jobs that the worker holds, running or not.
        pulse: of the worker's event loop.
        nursery: for the siblings.
        beat: has the worker's row written: the event loop had stood still for so long that the worker may have been taken for
            dead, or another number of handlers than before run on although their jobs are lost.
        rouse: called when it has held one for a moment: the keeper rests as well.
    """

    name = "watcher"

    def __init__(
        self,
        running: Callable[[], Iterable[HeldJob]],
        holdings: Sized,
        pulse: Pulse,
        nursery: trio.Nursery,
        beat: Callable[[], object],
        rouse: Callable[[], object],
    ) -> None:
        self._running = running
        self._holdings = holdings
        self._pulse = pulse
        self._nursery = nursery
        self._beat = beat
        self._rouse = rouse
        self._strays = 0

    async def run(self) -> None:
        """Look at what runs, ten times a second while there is something, until cancelled."""
        self._pulse.beat()
        while True:
            if monotonic() - self._pulse.at > STANDSTILL_SECONDS:
                self._beat()
            self._count_strays()
            if self._holdings:
                self._rouse()
            elif not self._strays:
                await self._pulse.rest()
                await trio.sleep(WATCH_SECONDS)
                continue
            self._pulse.beat()
            for held in self._running():
                if held.watched is None and held.started is not None:
                    held.watched = trio.CancelScope()
                    self._nursery.start_soon(stand_by, held)
            await trio.sleep(WATCH_SECONDS)

    def _count_strays(self) -> None:
        was, self._strays = self._strays, sum(held.lost is not None for held in self._running())
        if self._strays != was:
            self._beat()
