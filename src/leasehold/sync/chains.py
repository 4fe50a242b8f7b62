"""Chains, without awaiting: look at them, wait for them, and end them from outside."""

from __future__ import annotations

import builtins
from datetime import timedelta
from typing import Any

from leasehold.asks import chains
from leasehold.jobs.endings import ContinueWith
from leasehold.jobs.new_job import NewJob
from leasehold.records.jobs import ChainRecord, JobRecord
from leasehold.sync.core import SyncPart
from leasehold.sync.waits import wait_for_end


class SyncChains(SyncPart):
    """`client.chains`: as `Chains` of the awaited client, method by method."""

    def get(self, chain_id: int) -> ChainRecord:
        """Return one chain.

        Raises:
            UnknownJob: there is no chain of this id.
        """
        return self._core.filled(self._core.ask(chains.get_chain(chain_id)))

    def list(
        self,
        *,
        state: str | None = None,
        kind: str | None = None,
        queue: str | None = None,
        before_id: int | None = None,
        page_size: int = 50,
    ) -> list[ChainRecord]:
        """List a page of chains, newest id first; pass the last `chain_id` as `before_id` for the next."""
        return self._core.ask(chains.list_chains(state, kind, queue, before_id, page_size))

    def jobs(self, chain_id: int, *, after_position: int = -1, page_size: int = 50) -> builtins.list[JobRecord]:
        """List a page of the jobs of a chain, in their order; pass the last `chain_position` as `after_position` for the next.

        Raises:
            UnknownJob: there is no chain of this id.
        """
        found = self._core.ask(chains.list_chain_jobs(chain_id, after_position, page_size))
        if not found:
            self.get(chain_id)
        return found

    def blocked_jobs(self, chain_id: int, *, after_id: int = 0, page_size: int = 50) -> builtins.list[JobRecord]:
        """List a page of the jobs that wait for a chain now, oldest first; pass the last id as `after_id` for the next."""
        return self._core.ask(chains.list_blocked_jobs(chain_id, after_id, page_size))

    def wait(self, chain_id: int, *, timeout: float | timedelta | None = None) -> ChainRecord:
        """Wait until a chain ends, however it ends, and return it. `client.wait` returns its output instead.

        Raises:
            WaitTimeout: the chain is still open, and goes on.
            UnknownJob: there is no chain of this id, or it was deleted meanwhile.
        """
        return self._core.filled(wait_for_end(self._core, chain_id, timeout))

    def complete(
        self,
        chain_id: int,
        output: Any = None,
        *,
        continue_with: NewJob[Any] | ContinueWith[Any] | None = None,
        connection: Any = None,
    ) -> builtins.list[int]:
        """Complete the open job of a chain without a worker, in any state; returns the ids of the new jobs.

        Args:
            chain_id: of the chain.
            output: of the chain, where it ends here.
            continue_with: the job that continues the chain instead, or a `ContinueWith` with further ones.
            connection: as in `enqueue`: the chain completes when, and only if, your transaction commits.

        Raises:
            UnknownJob: there is no chain of this id.
            WrongState: the chain has ended.
            InvalidArgs, UnknownKind, BadInput: the output or a new job is refused.
        """
        ask = chains.complete_chain(chain_id, output, continue_with, self._core.checked)
        return self._core.ask(ask, connection)

    def cancel(self, chain_id: int, reason: str | None = None) -> str:
        """Cancel the open job of a chain, and with it the chain; returns the state the job was in.

        Raises:
            UnknownJob: there is no chain of this id.
            WrongState: the chain has ended.
        """
        return self._core.ask(chains.cancel_chain(chain_id, reason))

    def delete(self, chain_id: int, *, cascade: bool = False) -> builtins.list[int]:
        """Delete a chain with all its jobs, finished or not; returns the ids of the chains that were deleted.

        Raises:
            UnknownJob: there is no chain of this id.
            WrongState: a job outside waits for it.
        """
        return self._core.ask(chains.delete_chain(chain_id, cascade))
