"""Chains without awaiting: how they stand, and waiting for their end."""

# psycopg is an extra, loaded when the first connection is needed: nothing of it is known to the type checker here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import builtins
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from time import monotonic, sleep
from typing import Any

from leasehold import asks
from leasehold.asks import Ask, ended_chain, wait_seconds, watch_chain
from leasehold.drivers import BlockingConnection, raising_ours
from leasehold.jobs.endings import ContinueWith
from leasehold.jobs.new_job import NewJob
from leasehold.notify.channel import CHANNEL, Closed, parse_notice
from leasehold.records.jobs import ChainRecord, JobRecord
from leasehold.sync.connecting import connect
from leasehold.sync.core import SyncCore, SyncPart
from leasehold.sync.database import CONNECTION

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 5.0
REGISTERED_SECONDS = 60.0

Pause = Callable[[float], object]
"""Returns after these seconds, or as soon as there is a reason to look."""


def wait_for_end(core: SyncCore, chain_id: int, timeout: float | timedelta | None) -> ChainRecord:
    """The chain as it is when it has ended, however it ended. Raises WaitTimeout, UnknownJob, BadInput.

    It looks at once. A wait that goes on listens on a connection of its own, and looks again after 50 ms, then less and less
    often, every 5 s in the end: a lost notification costs time and nothing else.
    """
    seconds = wait_seconds(timeout)
    until = None if seconds is None else monotonic() + seconds
    row = core.ask(watch_chain(chain_id, None))
    if row is not None or seconds == 0:
        return ended_chain(chain_id, row, seconds)
    with _listening(core.direct_dsn or core.database.dsn, chain_id) if core.listens else nullcontext(sleep) as pause:
        ask = watch_chain(chain_id, REGISTERED_SECONDS if core.listens else None)
        return ended_chain(chain_id, _look_until(core, ask, pause, until), seconds)


def _look_until(core: SyncCore, ask: Ask[Any], pause: Pause, until: float | None) -> Any:
    """The row of the chain that has ended; None when the time is up."""
    length = FIRST_PAUSE
    while True:
        row = core.ask(ask)
        left = LONGEST_PAUSE if until is None else until - monotonic()
        if row is not None or left <= 0:
            return row
        pause(min(length, left))
        length = min(length * 2, LONGEST_PAUSE)


@contextmanager
def _listening(dsn: str, chain_id: int) -> Generator[Pause]:
    """A connection that listens: a pause that ends when the end of the chain is announced."""
    with raising_ours(), connect(dsn, application_name="leasehold listener", **CONNECTION) as connection:
        connection.execute(f"listen {CHANNEL}")

        def pause(seconds: float) -> None:
            until = monotonic() + seconds
            for notice in connection.notifies(timeout=seconds):
                closed = parse_notice(notice.payload)
                if (isinstance(closed, Closed) and closed.chain_id == chain_id) or monotonic() >= until:
                    return

        yield pause


class SyncChains(SyncPart):
    """`client.chains`: as `Chains` of the awaited client, method by method, with its arguments and errors."""

    def get(self, chain_id: int) -> ChainRecord:
        """Return one chain."""
        return self._core.filled(self._core.ask(asks.get_chain(chain_id)))

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
        return self._core.ask(asks.list_chains(state, kind, queue, before_id, page_size))

    def jobs(self, chain_id: int, *, after_position: int = -1, page_size: int = 50) -> builtins.list[JobRecord]:
        """List a page of the jobs of a chain, in their order; pass the last `chain_position` as `after_position` for the next."""
        found = self._core.ask(asks.list_chain_jobs(chain_id, after_position, page_size))
        if not found:
            self.get(chain_id)
        return found

    def blocked_jobs(self, chain_id: int, *, after_id: int = 0, page_size: int = 50) -> builtins.list[JobRecord]:
        """List a page of the jobs that wait for a chain now, oldest first; pass the last id as `after_id` for the next."""
        return self._core.ask(asks.list_blocked_jobs(chain_id, after_id, page_size))

    def wait(self, chain_id: int, *, timeout: float | timedelta | None = None) -> ChainRecord:
        """Wait until a chain ends, however it ends, and return it. `client.wait` returns its output instead."""
        return self._core.filled(wait_for_end(self._core, chain_id, timeout))

    def complete(
        self,
        chain_id: int,
        output: Any = None,
        *,
        continue_with: NewJob[Any] | ContinueWith[Any] | None = None,
        connection: BlockingConnection | None = None,
    ) -> builtins.list[int]:
        """Complete the open job of a chain without a worker, in any state; returns the ids of the new jobs."""
        ask = asks.complete_chain(chain_id, output, continue_with, self._core.kind)
        return self._core.ask(ask, connection)

    def cancel(self, chain_id: int, reason: str | None = None) -> str:
        """Cancel the open job of a chain, and with it the chain; returns the state the job was in."""
        return self._core.ask(asks.cancel_chain(chain_id, reason))

    def delete(self, chain_id: int, *, cascade: bool = False) -> builtins.list[int]:
        """Delete a chain with all its jobs, finished or not; returns the ids of the chains that were deleted."""
        return self._core.ask(asks.delete_chain(chain_id, cascade))
