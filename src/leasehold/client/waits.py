"""Waiting for chains."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypeVar, cast, overload

from leasehold.client.chain_watch import ChainWatch, Wait
from leasehold.client.ids import checked_id
from leasehold.client.section import Section
from leasehold.concurrency.one_shot import new_moment
from leasehold.database import Row
from leasehold.database.rows import from_row
from leasehold.errors import BadInput, ChainCancelled, ChainFailed, UnknownJob, WaitTimeout
from leasehold.jobs.handling.retry import seconds_of
from leasehold.jobs.kinds.kind import Kind
from leasehold.jobs.kinds.outputs import typed_output
from leasehold.records.chains import ChainRecord

R = TypeVar("R")


class Waits(Section):
    """The section of the client that waits."""

    _watch: ChainWatch | None = None

    @overload
    async def wait(self, chain_id: int, *, timeout: float | timedelta | None = None) -> Any: ...
    @overload
    async def wait(self, chain_id: int, *, kind: Kind[..., R], timeout: float | timedelta | None = None) -> R: ...
    async def wait(
        self, chain_id: int, *, kind: Kind[..., Any] | None = None, timeout: float | timedelta | None = None
    ) -> Any:
        """Wait for the end of a chain and return its output.

        All waits of a client share one connection that listens, opened with the first of them, and one statement that looks:
        at once, then after 50 ms, and less and less often. A database that goes away meanwhile is waited for.

        Args:
            chain_id: id of the first job, as `enqueue` returns it.
            kind: of the first job: the output is returned, and typed, as what its handler promises.
            timeout: seconds or timedelta; 0 looks once, None waits for ever.

        Raises:
            ChainFailed, ChainCancelled: it has ended so; `error.chain` says how. Retrying its last job opens it again.
            WaitTimeout: it is still open, and goes on.
            UnknownJob: there is no such chain, or it was deleted meanwhile.
            BadInput: the output does not fit what `kind` promises.
        """
        chain = await self.end_of(chain_id, timeout=timeout)
        if chain.state != "completed":
            raise _ended_without_output(chain)
        return chain.output if kind is None else typed_output(kind, chain.output)

    async def end_of(self, chain_id: int, *, timeout: float | timedelta | None = None) -> ChainRecord:
        """Wait for the end of a chain, however it ends, and return how it stands then. `timeout` as in `wait`.

        Raises WaitTimeout, UnknownJob.
        """
        seconds = None if timeout is None else seconds_of(timeout)
        row = await self._end_row(checked_id(chain_id), seconds)
        if row is None:
            raise WaitTimeout(f"chain {chain_id} is still open after {seconds} s")
        if row["state"] is None:
            raise UnknownJob(f"there is no chain {chain_id}")
        return from_row(ChainRecord, row)

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


def _ended_without_output(chain: ChainRecord) -> ChainFailed | ChainCancelled:
    stored: object = chain.error
    error = cast("dict[str, Any]", stored) if isinstance(stored, dict) else {}
    said = f"{error.get('type', 'error')}: {error.get('message', '')}"
    where = f"job {chain.job_id} ({chain.job_kind})"
    if chain.state == "cancelled":
        return ChainCancelled(
            f"chain {chain.chain_id} was cancelled: {error.get('message', '')} at {where}", chain=chain
        )
    return ChainFailed(f"chain {chain.chain_id} failed at {where}: {said}", chain=chain)
