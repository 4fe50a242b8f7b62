"""The surroundings of a command: its streams, environment and clock. Tests replace them."""

from __future__ import annotations

import os
import select
import shutil
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TextIO

from rich.console import Console

# What is piped must not be cut to the width of a terminal that is not there.
PIPED_WIDTH = 10_000


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Terminal:
    """Where a command writes and what it reads of the outside."""

    stdin: TextIO = field(default_factory=lambda: sys.stdin)
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    stderr: TextIO = field(default_factory=lambda: sys.stderr)
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    now: Callable[[], datetime] = _now

    def console(self, stream: TextIO | None = None) -> Console:
        """A rich console on `stream` (standard output): plain and uncut unless that is a terminal."""
        target = stream or self.stdout
        columns = self.environ.get("COLUMNS", "")
        width = PIPED_WIDTH if not target.isatty() else int(columns) if columns.isdecimal() else None
        colours = "auto" if self.has_colour(target) else None
        return Console(file=target, width=width, color_system=colours, highlight=False, emoji=False, markup=False)

    @property
    def columns(self) -> int:
        """How wide the terminal is; 80 where there is none."""
        columns = self.environ.get("COLUMNS", "")
        return int(columns) if columns.isdecimal() else shutil.get_terminal_size().columns

    def has_colour(self, stream: TextIO) -> bool:
        """Whether to send escape codes to `stream`: only to a terminal, and not with NO_COLOR."""
        return stream.isatty() and not self.environ.get("NO_COLOR")

    def is_read(self) -> bool:
        """Whether somebody may read standard output: a pipe has lost its reader for ever."""
        poll = select.poll()
        try:
            poll.register(self.stdout, 0)
        except (OSError, ValueError):  # nothing that has a descriptor, or closed
            return True
        return not any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))

    @contextmanager
    def counting(self, what: str) -> Generator[Callable[[int], None] | None]:
        """What shows a number that grows, in a line on standard error that goes with the block; None where that is no terminal."""
        if not self.stderr.isatty():
            yield None
            return
        line = ""

        def show(number: int) -> None:
            nonlocal line
            line = f"{number:,} {what}"
            self._write(f"{line}\r")  # from the start of the line, what is said next takes its place

        try:
            yield show
        finally:
            self._write(" " * len(line) + "\r")

    def say(self, text: str) -> None:
        """One line of talk, on standard error."""
        self._write(text + "\n")

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # a pipe that nobody reads, a terminal or stream that was closed
            self.stderr.write(text)
            self.stderr.flush()
