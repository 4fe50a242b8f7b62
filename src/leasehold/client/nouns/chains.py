"""Chains: look at them, wait for them, and end them from outside."""

from __future__ import annotations

import builtins
from datetime import timedelta
from typing import Any

from leasehold import asks
from leasehold.asks import checked_id
from leasehold.client.core import Part, answered
from leasehold.database.calls import CallersConnection, from_row
from leasehold.errors import UnknownJob
from leasehold.events import ChainCompleted
from leasehold.jobs.endings import ContinueWith
from leasehold.jobs.new_job import NewJob
from leasehold.records.jobs import ChainGraph, ChainNode, ChainRecord, JobRecord


class Chains(Part):
    """`client.chains`. A chain has the id of its first job; `client.enqueue` starts one, `client.wait` returns its output."""

    async def get(self, chain_id: int) -> ChainRecord:
        """Return one chain.

        Raises:
            UnknownJob: there is no chain of this id.
        """
        return await self._core.locker.filled(await self._ask(asks.get_chain(chain_id)))

    async def list(
        self,
        *,
        state: str | None = None,
        kind: str | None = None,
        queue: str | None = None,
        before_id: int | None = None,
        page_size: int = 50,
    ) -> list[ChainRecord]:
        """List a page of chains, newest id first; pass the last `chain_id` as `before_id` for the next.

        Args:
            state: only chains in this state.
            kind, queue: only chains whose first job has these.
            before_id: only older ones.
            page_size: at most this many.

        Raises:
            BadInput: the state is unknown, or the page size out of range.
        """
        return await self._ask(asks.list_chains(state, kind, queue, before_id, page_size))

    async def jobs(self, chain_id: int, *, after_position: int = -1, page_size: int = 50) -> builtins.list[JobRecord]:
        """List a page of the jobs of a chain, in their order; pass the last `chain_position` as `after_position` for the next.

        Raises:
            UnknownJob: there is no chain of this id.
            BadInput: the page size is out of range.
        """
        found = await self._ask(asks.list_chain_jobs(chain_id, after_position, page_size))
        if not found:
            await self.get(chain_id)
        return found

    async def graph(self, chain_id: int, *, most: int = 2000) -> ChainGraph:
        """Return a chain with all that waits for it and all that those wait for. Who waited for a chain that has ended is
        not found from there.

        Args:
            most: at most this many chains, 1 to 10000.

        Raises:
            UnknownJob: there is no chain of this id.
            BadInput: `most` is out of range.
        """
        rows = await self._database.call("list_chain_graph", checked_id(chain_id), most)
        if not rows:
            raise UnknownJob(f"there is no chain {chain_id}")
        return ChainGraph(nodes=[from_row(ChainNode, row) for row in rows], is_partial=rows[0]["is_partial"])

    async def blocked_jobs(self, chain_id: int, *, after_id: int = 0, page_size: int = 50) -> builtins.list[JobRecord]:
        """List a page of the jobs that wait for a chain now, oldest first; pass the last id as `after_id` for the next.

        Raises:
            BadInput: the page size is out of range.
        """
        return await self._ask(asks.list_blocked_jobs(chain_id, after_id, page_size))

    async def wait(self, chain_id: int, *, timeout: float | timedelta | None = None) -> ChainRecord:
        """Wait until a chain ends, however it ends, and return it. `client.wait` returns its output instead.

        Args:
            timeout: seconds or timedelta; 0 looks once, None waits without end.

        Raises:
            WaitTimeout: the chain is still open, and goes on.
            UnknownJob: there is no chain of this id, or it was deleted meanwhile.
        """
        return await self._core.locker.filled(await self._core.ends.wait(chain_id, timeout))

    async def complete(
        self,
        chain_id: int,
        output: Any = None,
        *,
        continue_with: NewJob[Any] | ContinueWith[Any] | None = None,
        connection: CallersConnection | None = None,
    ) -> builtins.list[int]:
        """Complete the open job of a chain without a worker, in any state: a person approved, a webhook came.

        A worker that runs the job cancels its handler; what the handler still writes is refused.

        Example:
            await client.chains.complete(42, {"approved": True})

        Args:
            output: of the chain, where it ends here.
            continue_with: the job that continues the chain instead, or a `ContinueWith` with further ones.
            connection: as in `enqueue`: the chain completes when, and only if, your transaction commits.

        Returns:
            ids of the new jobs; the one that continues the chain is the last.

        Raises:
            UnknownJob: there is no chain of this id.
            WrongState: the chain has ended.
            InvalidArgs, UnknownKind, BadInput: the output or a new job is refused.
        """
        ask = asks.complete_chain(chain_id, output, continue_with, self._core.kind)
        made = await answered(ask, self._core.caller(connection))
        if continue_with is None and connection is None and ChainCompleted in self._core.observers.subscribed:
            await self._announce_completion(chain_id)
        return made

    async def _announce_completion(self, chain_id: int) -> None:
        for job in await self._ask(asks.list_chain_jobs(chain_id, (await self.get(chain_id)).jobs - 2, 1)):
            self._core.observers.emit(ChainCompleted(chain_id=chain_id, kind=job.kind, queue=job.queue, job_id=job.id))

    async def cancel(self, chain_id: int, reason: str | None = None) -> str:
        """Cancel the open job of a chain, and with it the chain; returns the state the job was in.

        Jobs that wait for the chain go on waiting.

        Raises:
            UnknownJob: there is no chain of this id.
            WrongState: the chain has ended.
        """
        return await self._ask(asks.cancel_chain(chain_id, reason))

    async def delete(self, chain_id: int, *, cascade: bool = False) -> builtins.list[int]:
        """Delete a chain with all its jobs, finished or not; one event `deleted` remains in its timeline.

        Args:
            cascade: also delete the chains that its jobs wait or waited for, and theirs, except those that an unfinished
                job outside still waits for.

        Returns:
            ids of the chains that were deleted.

        Raises:
            UnknownJob: there is no chain of this id.
            WrongState: a job outside waits for it.
        """
        return await self._ask(asks.delete_chain(chain_id, cascade))
