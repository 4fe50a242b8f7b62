"""Makes scheduled jobs claimable at their time, and wakes the workers for them."""

from __future__ import annotations

import logging

import trio

from leasehold.concurrency.signal import Signal
from leasehold.database import Caller
from leasehold.notify.channel import TickNotice, Wake
from leasehold.notify.switchboard import Switchboard

log = logging.getLogger(__name__)

BATCH = 10_000
CALM_SECONDS = 1.0
SOONEST_SECONDS = 0.001
STUCK_SECONDS = 0.050


def wait_until_due(next_due: object, longest: float, *, progress: bool) -> float:
    """Seconds to wait for the next due job (`next_due` seconds away, None: there is none), `longest` at the most.

    `progress`: the last look has found something. If it has found nothing, an overdue job has come due since, or
    another session has locked it. Then the wait is as long as the job is overdue, from 1 ms to 50 ms, so that we look
    less and less often for a locked one.
    """
    if not isinstance(next_due, float):
        return longest
    overdue = 0.0 if progress else -next_due
    return min(longest, max(next_due, min(overdue, STUCK_SECONDS), SOONEST_SECONDS))


class DueJobs:
    """Sleeps exactly until the next job is due, or until a notice: it may mean an earlier job. Any number may run.

    Where notices come thick, with each job that somebody enqueues, it asks once a second what they mean. Claims make due, too.
    """

    name = "due jobs"

    def __init__(self, connection: Caller, switchboard: Switchboard, poll_seconds: float) -> None:
        self._connection = connection
        self._poll_seconds = poll_seconds
        self._signal = Signal()
        self._draining = trio.Event()
        switchboard.subscribe(TickNotice, lambda _: self._signal.set())
        switchboard.subscribe(Wake, lambda _: self._signal.set())
        switchboard.subscribe_reconnect(self._signal.set)

    def drain(self) -> None:
        """End after the present round."""
        self._draining.set()
        self._signal.set()

    async def run(self) -> None:
        """Make jobs due until drained. After a notice, which seldom means one that is due, it asks first.

        Raises DatabaseUnavailable.
        """
        is_due = True
        while not self._draining.is_set():
            made = await self._connection.call_value("make_jobs_due", BATCH) if is_due else 0
            next_due, asked_at = await self._connection.call_value("next_due_in"), trio.current_time()
            if not is_due and isinstance(next_due, float) and next_due <= 0:
                is_due = True
                continue
            seconds = wait_until_due(next_due, self._poll_seconds, progress=bool(made))
            is_due = not await self._signal.wait(seconds)
            with trio.move_on_at(asked_at + min(seconds, CALM_SECONDS)):
                await self._draining.wait()
