"""Show how far a round of the crawl is."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from leasehold import Client

PLAIN_SECONDS = 1.0
LOOK = """
select (select count(*)::int from crawl.stores where refreshed_payload > $1) as refreshed,
       (select count(*)::int from leasehold.jobs where queue = 'crawl') as open,
       (select count(*)::int from leasehold.jobs where queue = 'crawl' and state = 'running') as running,
       (select count(*)::int from leasehold.jobs where queue = 'crawl' and state = 'scheduled') as waiting,
       (select count(*)::int from leasehold.egress_identities where cooling_until > leasehold.clock()) as cooling
"""


class Stand(msgspec.Struct, frozen=True):
    """How a round stands.

    Attributes:
        refreshed: stores whose products are up to date.
        open: jobs that have not ended. running, waiting: of these, those that run, and those that wait for their time.
        cooling: egress identities that rest.
    """

    refreshed: int
    open: int
    running: int
    waiting: int
    cooling: int


async def look(client: Client, since: int) -> Stand:
    """How it stands. `since` is the newest payload of the round before."""
    async with client.transaction() as tx:
        [row] = await tx.fetch(LOOK, since)
    return Stand(*(row[name] for name in Stand.__struct_fields__))


class Screen:
    """Shows a bar for each round on a terminal, and a line each second elsewhere."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[int, TaskID] = {}
        self._next_line = 0.0

    def show(self, number: int, stand: Stand, of: int) -> None:
        """Show how a round stands."""
        if self._bars.console.is_terminal:
            if number not in self._tasks:
                self._tasks[number] = self._bars.add_task(f"round {number}", total=of, told="")
            self._bars.update(self._tasks[number], completed=stand.refreshed, told=describe(stand))
            if not stand.open:
                self._bars.stop_task(self._tasks[number])
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + PLAIN_SECONDS
            self.say(f"         round {number}: {stand.refreshed}/{of} stores, {describe(stand)}")

    def say(self, text: str) -> None:
        """A line above the bars."""
        self._bars.console.print(text, soft_wrap=True, highlight=False, markup=False)


@contextmanager
def open_screen() -> Generator[Screen]:
    """A display on standard output."""
    columns = (
        TextColumn("         {task.description}"), BarColumn(bar_width=16), MofNCompleteColumn(), TextColumn("stores"),
        TimeElapsedColumn(), TextColumn("{task.fields[told]}", table_column=Column(no_wrap=True, overflow="ellipsis")),
    )  # fmt: skip
    with Progress(*columns, console=Console()) as bars:
        yield Screen(bars)


def describe(stand: Stand) -> str:
    """`31 jobs open, 9 running, 4 waiting, 2 identities cooling`; what is none is left out."""
    if not stand.open:
        return "all jobs have ended"
    parts = [
        f"{count_of(stand.open, 'job')} open",
        f"{stand.running} running" if stand.running else "",
        f"{stand.waiting} waiting" if stand.waiting else "",
        f"{count_of(stand.cooling, 'identity', 'identities')} cooling" if stand.cooling else "",
    ]
    return ", ".join(filter(None, parts))


def count_of(number: int, one: str, many: str | None = None) -> str:
    """`1 job`, `2 jobs`."""
    return f"{number} {one if number == 1 else many or one + 's'}"
