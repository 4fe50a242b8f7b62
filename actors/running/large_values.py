"""Args and outputs of running jobs that are too large for a row: the payload store has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeGuard

import msgspec
import trio

from leasehold.actors.attempts.held_job import HeldJob
from leasehold.actors.attempts.outcome import MOST_OUTPUT_BYTES, Completed, Continued, Outcome
from leasehold.database import Caller
from leasehold.payloads.archive import Archive, Fence
from leasehold.payloads.claim_checks import Deposit, Locker, find_check
from leasehold.payloads.options import PayloadOptions

Written: TypeAlias = Completed | Continued


def fence_of(held: HeldJob) -> Fence:
    """The fencing token of an attempt."""
    return held.id, held.attempt, str(held.incarnation)


class LargeValues:
    """The large values of a worker's jobs.

    Attributes:
        most: bytes that an output may have as JSON.

    Args:
        options: where they lie.
        archive: makes the payloads of an attempt, in the flavour of the caller.
    """

    def __init__(self, options: PayloadOptions, archive: Callable[[HeldJob], Archive]) -> None:
        self._options = options
        self._archive = archive
        self._above = None if options.store is None else options.claim_above
        self.most = MOST_OUTPUT_BYTES if self._above is None else max(self._above, options.limit)

    async def fetch_args(self, held: HeldJob) -> None:
        """Put the args in the place of their claim check. Raises what `Locker.fetch` raises."""
        check = find_check(held.args)
        if check is not None:
            held.args = (await self._locker(held).fetch(check)).decode()

    async def load(self, value: Any, held: HeldJob) -> Any:
        """The value that this claim check stands for; any other value as it is. Raises what `Locker.fetch` raises."""
        check = find_check(value)
        return value if check is None else msgspec.json.decode(await self._locker(held).fetch(check))

    def is_large(self, outcome: Outcome) -> TypeGuard[Written]:
        """Whether its output goes to the store."""
        if self._above is None or not isinstance(outcome, (Completed, Continued)):
            return False
        return outcome.output is not None and len(outcome.output) > self._above

    async def deposit(self, outcome: Written, caller: Caller | None = None) -> tuple[Written, Deposit]:
        """The outcome with a claim check as its output, whose content is in the store now. `record` makes its row.

        Raises StoreUnavailable.
        """
        content = (outcome.output or "null").encode()
        deposit = await self._locker(outcome.held).deposit(content, "output", outcome.held.kind.name, caller)
        return msgspec.structs.replace(outcome, output=deposit.check), deposit

    async def put_away(self, outcome: Written) -> Written:
        """The outcome with a claim check in the place of its output, in a transaction of its own.

        What is in the store gets its row or is deleted again, also for a handler that is cancelled meanwhile.

        Raises LeaseLost, StoreUnavailable, DatabaseUnavailable.
        """
        kept, deposit = await self.deposit(outcome)
        with trio.CancelScope(shield=True):
            await self.record(deposit, outcome.held)
        return kept

    async def record(self, deposit: Deposit, held: HeldJob, caller: Caller | None = None) -> None:
        """Make the row of the payload, in this transaction. Raises LeaseLost for a former owner, who then leaves nothing."""
        await self._locker(held).record(deposit, None, caller)

    def _locker(self, held: HeldJob) -> Locker:
        return self._options.locker(self._archive(held))
