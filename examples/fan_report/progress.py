"""Show the progress of the report."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from leasehold import Client

from .handlers import summarize

PLAIN_SECONDS = 1.0


class Done(msgspec.Struct, frozen=True):
    """How many files of a package are done."""

    files: int
    of: int


async def look(client: Client) -> dict[str, Done]:
    """The progress of each package. The open blockers of its chain are the files that its summary still waits for."""
    found: dict[str, Done] = {}
    for job in await client.jobs.list(kind=summarize.name):
        chain = await client.chains.get(job.id)
        files = job.args["files"]
        found[job.args["package"]] = Done(files - chain.open_blockers, files)
    return found


class Screen:
    """Shows bars on a terminal, and a line now and then elsewhere."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._next_line = time.monotonic()

    def show(self, done: Mapping[str, Done]) -> None:
        """Show how far the packages are."""
        if self._bars.console.is_terminal:
            for package, each in sorted(done.items()):
                if package not in self._tasks:
                    self._tasks[package] = self._bars.add_task(package, total=each.of)
                self._bars.update(self._tasks[package], completed=each.files)
        elif done and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + PLAIN_SECONDS
            self._bars.console.print(describe(done), soft_wrap=True)


@contextmanager
def open_screen() -> Generator[Screen]:
    """A display on standard output."""
    columns = (TextColumn("        {task.description:>14}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console()) as bars:
        yield Screen(bars)


def describe(done: Mapping[str, Done]) -> str:
    """`120/340 files: aiohttp 52/52, trio 68/144, …`."""
    files, of = sum(each.files for each in done.values()), sum(each.of for each in done.values())
    packages = ", ".join(f"{name} {each.files}/{each.of}" for name, each in sorted(done.items()))
    return f"         {files}/{of} files: {packages}"
