"""Single jobs that are enqueued at the same time on one client go together.

Enter: a job, encoded, after the middlewares. Leave: its row of `enqueue_jobs`, after the commit, or its own error. A lone job is
sent at once by its caller, and those that come meanwhile share the next statement. Plain asyncio; a client under trio crosses
over to it once per job, as it would to the database.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

import msgspec

from leasehold.client.shared_statements import SharedStatements
from leasehold.database import Caller, Row
from leasehold.jobs.encoding import options_of

PATIENCE_SECONDS = 1.0  # with a statement that gets no answer; whoever comes later does not wait for it
CLOSE_SECONDS = 2.0


class _Passenger(msgspec.Struct, frozen=True, eq=False):
    document: str
    notify: bool
    is_checked: bool


class Convoy:
    """Sends single jobs. Not for those whose statement may wait for a stranger's transaction: with an idempotency key, blockers or
    `unique`.

    Args:
        database: of the asyncio flavour.
    """

    def __init__(self, database: Caller) -> None:
        self._database = database
        self._shared = SharedStatements[_Passenger, Row](self._send_next)
        self._leads = False
        self._sent_at = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether a job would be sent at once, alone."""
        return not (self._leads or self._shared.is_sending)

    async def enqueue(self, document: str, notify: bool, is_checked: bool = False) -> Row:
        """Write one job. Raises what `enqueue_jobs` raises for it. If cancelled, it may have been written or not; others go on.

        Args:
            document: the job as JSON.
            notify: wake idle workers inside the statement.
            is_checked: it has the defaults of its kind already, and its args fit.
        """
        passenger = _Passenger(document, notify, is_checked)
        if self.is_idle:
            return await self._lead(passenger)
        if monotonic() - self._sent_at > PATIENCE_SECONDS:
            return (await self._send([passenger]))[0]
        return await self._shared.join(passenger, len(document))

    async def close(self) -> None:
        """Let those that wait arrive, for a short while."""
        await self._shared.close(CLOSE_SECONDS)

    async def _lead(self, passenger: _Passenger) -> Row:
        self._leads = True
        try:
            return (await self._send_next([passenger]))[0]
        finally:
            self._leads = False
            self._sent_at = monotonic()
            self._shared.start()

    async def _send_next(self, batch: Sequence[_Passenger]) -> list[Row]:
        self._sent_at = monotonic()
        return await self._send(batch)

    async def _send(self, batch: Sequence[_Passenger]) -> list[Row]:
        options = options_of(
            notify=any(each.notify for each in batch), is_checked=all(each.is_checked for each in batch)
        )
        return await self._database.call("enqueue_jobs", f"[{','.join(each.document for each in batch)}]", *options)
