"""Chains: look at them, and end them from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leasehold.client.ids import checked_before, checked_id
from leasehold.client.section import Section
from leasehold.database import Caller
from leasehold.database.rows import from_row
from leasehold.errors import UnknownJob
from leasehold.events import ChainCompleted
from leasehold.jobs.enqueueing.encoding import encode_continuation
from leasehold.jobs.handling.continuation import ContinueWith
from leasehold.jobs.kinds.arguments import encode_args
from leasehold.jobs.producing.new_job import NewJob
from leasehold.records.chains import BlockerRecord, ChainRecord
from leasehold.records.jobs import JobRecord


class Chains(Section):
    """The section of the client about chains. A chain has the id of its first job; `enqueue` starts one."""

    async def chain(self, chain_id: int) -> ChainRecord:
        """How a chain stands. Raises UnknownJob."""
        rows = await self._database.call("get_chain", checked_id(chain_id))
        if not rows:
            raise UnknownJob(f"there is no chain {chain_id}")
        return from_row(ChainRecord, rows[0])

    async def chains(
        self,
        *,
        state: str | None = None,
        kind: str | None = None,
        queue: str | None = None,
        before_id: int | None = None,
        page_size: int = 50,
    ) -> list[ChainRecord]:
        """A page of chains, newest id first; pass the last `chain_id` as `before_id` for the next. `kind` and `queue` are
        those of the first job. Raises BadInput."""
        rows = await self._database.call("list_chains", state, kind, queue, checked_before(before_id), page_size)
        return [from_row(ChainRecord, row) for row in rows]

    async def chain_jobs(self, chain_id: int, *, after_position: int = -1, page_size: int = 50) -> list[JobRecord]:
        """A page of the jobs of a chain, in their order; pass the last `chain_position` as `after_position` for the next.

        Raises UnknownJob, BadInput.
        """
        rows = await self._database.call("list_chain_jobs", checked_id(chain_id), after_position, page_size)
        if not rows:
            await self.chain(chain_id)
        return [from_row(JobRecord, row) for row in rows]

    async def blockers(self, job_id: int) -> list[BlockerRecord]:
        """The chains that a job waits or waited for, in the order of its slots."""
        rows = await self._database.call("get_job_blockers", checked_id(job_id))
        return [from_row(BlockerRecord, row) for row in rows]

    async def blocked_jobs(self, chain_id: int, *, after_id: int = 0, page_size: int = 50) -> list[JobRecord]:
        """A page of the jobs that wait for a chain now, oldest first; pass the last id as `after_id` for the next."""
        rows = await self._database.call("list_blocked_jobs", checked_id(chain_id), checked_id(after_id), page_size)
        return [from_row(JobRecord, row) for row in rows]

    async def complete_chain(
        self, chain_id: int, output: Any = None, *, continue_with: NewJob[Any] | ContinueWith[Any] | None = None,
        connection: Any = None,
    ) -> list[int]:  # fmt: skip
        """Complete the open job of a chain without a worker, whatever state it is in: somebody approved, a webhook came. A
        worker that runs it is told, its handler is cancelled, and whatever it still writes is refused.

        Args:
            chain_id: of the chain.
            output: of the chain, where it ends here.
            continue_with: the job that continues the chain instead, or a `ContinueWith` with further ones.
            connection: as in `enqueue`: the chain completes when, and only if, your transaction commits.

        Returns:
            ids of the new jobs; the one that continues the chain is the last.

        Raises:
            UnknownJob: there is no such chain. WrongState: it has ended. InvalidArgs, UnknownKind, BadInput: the output or
                a new job is refused.
        """
        checked_id(chain_id)
        caller = self._caller(connection)
        end = ContinueWith(continue_with) if isinstance(continue_with, NewJob) else continue_with
        continuation = None if end is None else encode_continuation(end, (), self._checked)
        encoded = None if output is None else encode_args(output, "output").decode()
        made: Sequence[int] = await caller.call_value("complete_chain", chain_id, encoded, continuation)  # pyright: ignore[reportAssignmentType]
        if end is None and connection is None and ChainCompleted in self.observers.heard:
            await self._tell_completion(caller, chain_id)
        return list(made)

    async def _tell_completion(self, caller: Caller, chain_id: int) -> None:
        for row in await caller.call("list_chain_jobs", chain_id, (await self.chain(chain_id)).jobs - 2, 1):
            job = from_row(JobRecord, row)
            self.observers.emit(ChainCompleted(chain_id=chain_id, kind=job.kind, queue=job.queue, job_id=job.id))

    async def cancel_chain(self, chain_id: int, reason: str | None = None) -> str:
        """Cancel the open job of a chain, whichever that is by now; returns the state it was in. Jobs that wait for the
        chain go on waiting. Raises UnknownJob, WrongState."""
        return str(await self._database.call_value("cancel_chain", checked_id(chain_id), reason))

    async def delete_chain(self, chain_id: int, *, cascade: bool = False) -> list[int]:
        """Remove a chain with all its jobs, finished or not; one event `deleted` remains in its timeline.

        Args:
            chain_id: of the chain.
            cascade: also the chains that its jobs are or were blocked by, and theirs, except those that an unfinished job
                outside still waits for.

        Returns:
            ids of the chains that were removed.

        Raises:
            UnknownJob: there is no such chain. WrongState: a job outside waits for it.
        """
        checked_id(chain_id)
        made: Sequence[int] = await self._database.call_value("delete_chain", chain_id, cascade)  # pyright: ignore[reportAssignmentType]
        return list(made)
