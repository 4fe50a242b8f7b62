"""The ends of chains, for one who waits in either flavour."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from leasehold.asks.chains import ended_chain, wait_seconds
from leasehold.asks.ids import checked_id
from leasehold.client.waiting.chain_watch import ChainWatch, Wait
from leasehold.concurrency.one_shot import new_moment
from leasehold.database import Caller, Row
from leasehold.errors import BadInput
from leasehold.records.chains import ChainRecord


class ChainEnds:
    """Waits for the ends of chains.

    The first wait makes the watch that all later ones share; it ends a little after the last.

    Args:
        database: a pool of connections; over anything else only `timeout=0` works.
        listens: whether the watch listens; without, it polls only.
    """

    def __init__(self, database: Caller, *, listens: bool) -> None:
        self._database = database
        self._listens = listens
        self._watch: ChainWatch | None = None

    async def wait(self, chain_id: int, timeout: float | timedelta | None) -> ChainRecord:
        """The chain as it is when it has ended, however it ended. Raises WaitTimeout, UnknownJob, BadInput."""
        seconds = wait_seconds(timeout)
        return ended_chain(chain_id, await self._end_row(checked_id(chain_id), seconds), seconds)

    async def _end_row(self, chain_id: int, seconds: float | None) -> Row | None:
        if seconds is not None and seconds <= 0:
            rows = await self._database.call("watch_chains", [chain_id])
            return rows[0] if rows else None
        moment = new_moment()
        told: list[Row | Exception] = []

        def tell(outcome: Row | Exception) -> None:
            told.append(outcome)
            moment.set()

        wait = Wait(chain_id, tell)
        watch = self._chain_watch()
        watch.add(wait)
        try:
            if not watch.runs:
                await self._pool().in_asyncio(watch.start)
            await moment.within(seconds)
        finally:
            watch.remove(wait)
        if told and isinstance(told[0], Exception):
            raise told[0]
        return told[0] if told else None  # pyright: ignore[reportReturnType]

    def _chain_watch(self) -> ChainWatch:
        if self._watch is None:
            self._watch = ChainWatch(self._pool().inner, listens=self._listens)
        return self._watch

    def _pool(self) -> Any:
        if not hasattr(self._database, "in_asyncio"):
            raise BadInput(
                f"only a client on a pool of connections can wait, not one that calls over {self._database!r}"
            )
        return self._database
