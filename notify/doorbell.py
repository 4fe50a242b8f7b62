"""The doorbell of clients: it wakes idle workers of the queues that got jobs.

A NOTIFY inside the writing transaction takes a lock that every commit of the whole server waits for. So where much is enqueued, a
client that owns its transaction notifies after the commit, from a separate task, at most once per queue in ten milliseconds. If
the process dies in between, the next poll of a worker finds the job. Where it is quiet, the statement that enqueues may notify
itself: that saves a round trip, and the lock is free.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from time import monotonic

from leasehold.concurrency.flavours import new_moment, pause, running_flavour
from leasehold.database import Caller
from leasehold.errors import LeaseholdError

PAUSE_SECONDS = 0.010


class Doorbell:
    """Collects queues, and wakes their idle workers in one statement. `ring` never waits."""

    def __init__(self) -> None:
        self._queues: set[str] = set()
        self._rung = new_moment()
        self._rung_at = float("-inf")

    def take_over(self) -> bool:
        """Whether the statement that enqueues is to wake workers itself: nobody was woken in the last ten milliseconds."""
        now = monotonic()
        if self._queues or now - self._rung_at < PAUSE_SECONDS:
            return False
        self._rung_at = now
        return True

    def ring(self, queues: set[str]) -> None:
        """Wake idle workers of these queues soon."""
        self._queues |= queues
        self._rung.set()

    async def flush(self, caller: Caller) -> None:
        """Wake idle workers of the collected queues now. A failure is ignored: the workers' polls find the jobs."""
        queues, self._queues = self._queues, set()
        if queues:
            self._rung_at = monotonic()
            with suppress(LeaseholdError):
                await caller.call("wake_idle_workers", sorted(queues))

    async def answer(self, caller: Caller) -> None:
        """Wake workers whenever `ring` was called, until cancelled."""
        while True:
            await self._rung.within(None)
            self._rung = new_moment()
            await self.flush(caller)
            await pause(PAUSE_SECONDS)


@asynccontextmanager
async def open_doorbell(caller: Caller) -> AsyncGenerator[Doorbell]:
    """A doorbell that notifies over `caller`, under trio or asyncio. A block that ends well rings for what is left."""
    doorbell = Doorbell()
    async with _answering_in_trio(doorbell, caller) if running_flavour() == "trio" else _answering(doorbell, caller):
        yield doorbell
        await doorbell.flush(caller)


@asynccontextmanager
async def _answering_in_trio(doorbell: Doorbell, caller: Caller) -> AsyncGenerator[None]:
    import trio  # noqa: PLC0415  a program under asyncio needs none

    raised: Exception | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(doorbell.answer, caller)
        try:
            yield
        except Exception as error:
            raised = error  # raised below, where the nursery does not wrap it in a group
        finally:
            nursery.cancel_scope.cancel()
    if raised is not None:
        raise raised


@asynccontextmanager
async def _answering(doorbell: Doorbell, caller: Caller) -> AsyncGenerator[None]:
    answering = asyncio.create_task(doorbell.answer(caller))
    try:
        yield
    finally:
        answering.cancel()
        with suppress(asyncio.CancelledError):
            await answering
