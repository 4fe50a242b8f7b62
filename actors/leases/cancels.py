"""Reads what was said with a cancel before the handler is told of it, so that the handler can say it.

A notice and a refused renewal bring no more than the word `cancelled`. Nobody pays for the text but who is cancelled.
"""

from __future__ import annotations

from contextlib import suppress

import trio

from leasehold.actors.attempts.held_job import CANCELLED, HeldJob, Told
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller
from leasehold.errors import LeaseholdError

READ_SECONDS = 1.0
"""A handler waits no longer for its cancel: without an answer it is told without the text."""


class Cancels:
    """Ends attempts that were cancelled. All methods belong to the worker's thread."""

    name = "cancels"

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._asked = Signal()
        self._cancelled: list[HeldJob] = []

    def lose(self, held: HeldJob, reason: str) -> None:
        """The lease is gone: cancel the handler, now or, where somebody has cancelled it, when it is known what they said."""
        if reason != CANCELLED or held.started is None:
            held.lose(reason)
            return
        self._cancelled.append(held)
        self._asked.set()

    async def run(self) -> None:
        """Read and tell until cancelled."""
        while True:
            await self._asked.wait()
            cancelled, self._cancelled = self._cancelled, []
            try:
                with trio.move_on_after(READ_SECONDS):
                    async with trio.open_nursery() as nursery:
                        for held in cancelled:
                            nursery.start_soon(self._tell, held)
            finally:
                for held in cancelled:
                    held.lose(CANCELLED)

    async def _tell(self, held: HeldJob) -> None:
        """With the message and who wrote it, from the end of this very attempt."""
        found: Told | None = None
        with suppress(LeaseholdError):
            for row in await self._caller.call("get_job_timeline", held.id):
                if row["event"] == CANCELLED and row["attempt"] == held.attempt:
                    found = row["message"], row["actor"]
        held.lose(CANCELLED, found)
