"""`client.wait`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypeVar, overload

from leasehold.asks import output_of
from leasehold.client.core import Part
from leasehold.jobs.kind import Kind

R = TypeVar("R")


class Waits(Part):
    """The part of `Client` that waits for outputs."""

    @overload
    async def wait(self, chain_id: int, *, timeout: float | timedelta | None = None) -> Any: ...
    @overload
    async def wait(self, chain_id: int, *, kind: Kind[..., R], timeout: float | timedelta | None = None) -> R: ...
    async def wait(
        self, chain_id: int, *, kind: Kind[..., Any] | None = None, timeout: float | timedelta | None = None
    ) -> Any:
        """Wait until a chain ends, and return its output.

        All waits of a client share one connection that listens and one statement that looks: at once, after 50 ms, then
        less and less often, every 5 s in the end. A wait goes on while the database is away. `client.chains.wait`
        returns the chain instead, also where it failed or was cancelled.

        Example:
            total = await client.wait(await client.enqueue(add_up.new(2026)), kind=add_up, timeout=30)

        Args:
            chain_id: id of the first job, as `enqueue` returns it.
            kind: of the first job. The output is then checked against what its handler returns, and typed.
            timeout: seconds or timedelta; 0 looks once, None waits without end.

        Raises:
            ChainFailed, ChainCancelled: the chain ended without an output; `error.chain` says how. It opens again when its
                last job is retried.
            WaitTimeout: the chain is still open, and goes on.
            UnknownJob: there is no chain of this id, or it was deleted meanwhile.
            PayloadMissing, PayloadDamaged, StoreUnavailable: the output lies in the payload store and cannot be loaded.
            BadInput: the output does not fit `kind`, or the client is not on a pool of connections.
        """
        chain = await self._core.ends.wait(chain_id, timeout)
        return output_of(await self._core.locker.filled(chain), kind)
