"""Waiting for chains to end: all waits of a client share one LISTEN connection and one statement.

The end of a chain is notified as `closed:ID` to those that registered for it; a poll that begins with 50 ms and doubles up to
5 s stands behind that, so a lost notification costs time and nothing else. The work is done by one asyncio task, in both
flavours, which is there only while there are waiters and a little longer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import chain
from time import monotonic
from typing import Any

from leasehold.asks import checked_id, ended_chain, wait_seconds
from leasehold.concurrency.flavours import new_moment
from leasehold.database import Caller, Row
from leasehold.errors import BadInput, ClientClosed, DatabaseUnavailable, LeaseholdError
from leasehold.notify.asyncio_listener import AsyncioListener
from leasehold.notify.channel import Closed, parse_notice
from leasehold.records.jobs import ChainRecord

log = logging.getLogger(__name__)

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 5.0
TOGETHER = 0.005  # what is due within these seconds goes into the same statement
REGISTERED_SECONDS = 60.0
IDLE_SECONDS = 10.0
MOST_AT_ONCE = 10_000
NEVER = float("inf")


class Wait:
    """One wait for one chain. `answer` is called once, with the row of get_chain or what went wrong."""

    __slots__ = ("answer", "chain_id", "due", "looked", "pause")

    def __init__(self, chain_id: int, answer: Callable[[Row | Exception], object]) -> None:
        self.chain_id = chain_id
        self.answer = answer
        self.due = 0.0
        self.pause = FIRST_PAUSE
        self.looked = False


class ChainEnds:
    """Waits for the ends of chains.

    All waits share a task, which the first one makes; it ends a little after the last. A database that goes away is waited for,
    except by waits that have never been answered.

    Args:
        database: a pool of connections; over anything else only `timeout=0` works.
        listens: whether to listen; without, it polls only.
    """

    def __init__(self, database: Caller, *, listens: bool = True) -> None:
        self._database: Any = database
        self._listens = listens
        self._waits: dict[int, set[Wait]] = {}
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    async def wait(self, chain_id: int, timeout: float | timedelta | None) -> ChainRecord:
        """The chain as it is when it has ended, however it ended. Raises WaitTimeout, UnknownJob, BadInput."""
        seconds = wait_seconds(timeout)
        return ended_chain(chain_id, await self._end_row(checked_id(chain_id), seconds), seconds)

    async def _end_row(self, chain_id: int, seconds: float | None) -> Row | None:
        if seconds is not None and seconds <= 0:
            rows = await self._database.call("watch_chains", [chain_id])
            return rows[0] if rows else None
        if not hasattr(self._database, "in_asyncio"):
            raise BadInput(
                f"only a client on a pool of connections can wait, not one that calls over {self._database!r}"
            )
        self._database.refuse_stranger()
        moment = new_moment()
        answers: list[Row | Exception] = []

        def answer(outcome: Row | Exception) -> None:
            answers.append(outcome)
            moment.set()

        wait = Wait(chain_id, answer)
        self.add(wait)
        try:
            if self._task is None:
                await self._database.in_asyncio(self.start)
            await moment.within(seconds)
        finally:
            self.remove(wait)
        if answers and isinstance(answers[0], Exception):
            raise answers[0]
        return answers[0] if answers else None  # pyright: ignore[reportReturnType]

    def add(self, wait: Wait) -> None:
        """Look for the end of its chain, at once at first. Raises ClientClosed."""
        if self._is_closed:
            raise ClientClosed
        self._waits.setdefault(wait.chain_id, set()).add(wait)
        self._changed.set()

    def remove(self, wait: Wait) -> None:
        """Look no more; harmless where it has been told already."""
        left = self._waits.get(wait.chain_id, set())
        left.discard(wait)
        if not left:
            self._waits.pop(wait.chain_id, None)

    async def start(self) -> None:
        """Make the task, in asyncio. Raises ClientClosed."""
        if self._is_closed or self._database.is_closed:
            raise ClientClosed
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="leasehold chain watch")
            self._task.add_done_callback(self._end)  # a task that is cancelled before it begins has no `finally`
            self._database.closers.append(self.close)

    async def close(self) -> None:
        """End the task, in asyncio; waits that are left are told so."""
        self._is_closed = True
        self._answer_all(ClientClosed())
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        listener = AsyncioListener(self._database, self._receive, self._look_at_all)
        if self._listens:
            listener.open()
        try:
            while await self._something_is_due():
                due = self._due()
                if due:
                    await self._look(due)
        finally:
            self._end(asyncio.current_task())
            await listener.close()

    def _end(self, task: object) -> None:
        """Forget the task, unless that is done already."""
        if self._task is task:
            self._task = None
            self._answer_all(DatabaseUnavailable("somebody has cancelled the task that looks for the ends of chains"))
            self._database.closers.remove(self.close)

    async def _something_is_due(self) -> bool:
        """Wait until a look is due; False when nobody has waited for anything for a while."""
        earliest = min(
            (wait.due for waits in self._waits.values() for wait in waits), default=monotonic() + IDLE_SECONDS
        )
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, earliest - monotonic())):
                await self._changed.wait()
        self._changed.clear()
        return bool(self._waits) or monotonic() < earliest

    def _due(self) -> list[Wait]:
        now = monotonic() + TOGETHER
        return [wait for waits in self._waits.values() for wait in waits if wait.due <= now][:MOST_AT_ONCE]

    async def _look(self, due: Sequence[Wait]) -> None:
        seconds = REGISTERED_SECONDS if self._listens else None
        for wait in due:
            wait.due = NEVER  # unless something is heard while the statement runs
        try:
            rows = await self._database.call("watch_chains", list({wait.chain_id for wait in due}), seconds)
        except DatabaseUnavailable as error:
            for wait in due:
                self._put_off(wait) if wait.looked else self._answer(wait, error)
            return
        except Exception as error:
            if not isinstance(error, LeaseholdError):
                log.exception("cannot look for the ends of chains")
            for wait in due:
                self._answer(wait, error)
            return
        over = {row["chain_id"]: row for row in rows}
        for wait in due:
            wait.looked = True
            row = over.get(wait.chain_id)
            self._put_off(wait) if row is None else self._answer(wait, row)

    def _put_off(self, wait: Wait) -> None:
        wait.due = min(wait.due, monotonic() + wait.pause)
        wait.pause = min(wait.pause * 2, LONGEST_PAUSE)

    def _answer(self, wait: Wait, outcome: Row | Exception) -> None:
        self.remove(wait)
        wait.answer(outcome)

    def _answer_all(self, error: Exception) -> None:
        for wait in list(chain.from_iterable(self._waits.values())):
            self._answer(wait, error)

    def _receive(self, payload: str) -> None:
        notice = parse_notice(payload)
        if isinstance(notice, Closed):
            self._make_due(self._waits.get(notice.chain_id, ()))

    def _look_at_all(self) -> None:
        for waits in self._waits.values():
            self._make_due(waits)

    def _make_due(self, waits: Iterable[Wait]) -> None:
        for wait in waits:
            wait.due = 0.0
            self._changed.set()
