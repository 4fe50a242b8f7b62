"""Reads what was said with a cancel before the handler is told of it, so that the handler can say it.

A notice and a refused renewal bring no more than the word `cancelled`. Nobody pays for the text but who is cancelled.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import trio

from leasehold.actors.attempts.held_job import CANCELLED, HeldJob
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
        async with trio.open_nursery() as nursery:
            while True:
                await self._asked.wait()
                # A job is here several times where it was refused a renewal before it was told.
                cancelled = {(held.id, held.attempt): held for held in self._cancelled if held.lost is None}
                self._cancelled.clear()
                if cancelled:
                    nursery.start_soon(self._read, cancelled)

    async def _read(self, cancelled: dict[tuple[int, int], HeldJob]) -> None:
        job_ids = [job_id for job_id, _ in cancelled]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._lose_all, cancelled.values())
            with suppress(LeaseholdError):
                for row in await self._caller.call("list_cancels", job_ids, timeout=READ_SECONDS):
                    if (held := cancelled.get((row["job_id"], row["attempt"]))) is not None:
                        held.lose(CANCELLED, (row["reason"], row["cancelled_by"]))
            nursery.cancel_scope.cancel()

    async def _lose_all(self, cancelled: Iterable[HeldJob]) -> None:
        """In time, whether the database answers or not: a statement that is given up takes its time to end."""
        try:
            await trio.sleep(READ_SECONDS)
        finally:
            for held in cancelled:
                held.lose(CANCELLED)
