"""Waiting for the end of a chain, without awaiting."""

# psycopg is an extra, loaded when the first connection is needed: nothing of it is known to the type checker here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from time import monotonic, sleep
from typing import Any

from leasehold.asks.ask import Ask
from leasehold.asks.chains import ended_chain, wait_seconds, watch_chain
from leasehold.drivers.failing import told
from leasehold.notify.channel import CHANNEL, Closed, parse_notice
from leasehold.records.jobs import ChainRecord
from leasehold.sync.core import SyncCore
from leasehold.sync.database import CONNECTION, needed

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
    with _ear(core.direct_dsn, chain_id) if core.listens else nullcontext(sleep) as pause:
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
def _ear(dsn: str, chain_id: int) -> Generator[Pause]:
    """A connection that listens: a pause that ends when the end of the chain is announced."""
    psycopg: Any = needed("psycopg")
    with told(), psycopg.connect(dsn, application_name="leasehold listener", **CONNECTION) as connection:
        connection.execute(f"listen {CHANNEL}")

        def pause(seconds: float) -> None:
            until = monotonic() + seconds
            for notice in connection.notifies(timeout=seconds):
                heard = parse_notice(notice.payload)
                if (isinstance(heard, Closed) and heard.chain_id == chain_id) or monotonic() >= until:
                    return

        yield pause
