"""`leasehold top`."""

from __future__ import annotations

import os
import re
import signal
import termios
import tty
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Annotated, TextIO

import msgspec
import trio
from cyclopts import Parameter
from cyclopts.validators import Number
from rich.live import Live

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.top.state import Look, Watch
from leasehold.cli.top.view import Screen, view_top
from leasehold.client import Client
from leasehold.concurrency.signal import Signal
from leasehold.errors import DatabaseUnavailable

if TYPE_CHECKING:
    from leasehold.database import Database


NAMES = {
    "\t": "tab", "\x1b[Z": "back tab", "\x1b[A": "up", "\x1b[B": "down", "\x1bOA": "up", "\x1bOB": "down",
    "k": "up", "j": "down", "Q": "q", "P": "p", "\x04": "q",
}  # fmt: skip
KEY = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|[\s\S]")


def keys_in(text: str) -> list[str]:
    """The keys that a terminal has sent, by name."""
    found: list[str] = KEY.findall(text)
    return [NAMES.get(key, key) for key in found]


@contextmanager
def key_by_key(stream: TextIO) -> Generator[int | None]:
    """Make a terminal send each key at once without showing it, until the block ends. Yields its descriptor, or None if the
    stream is no terminal."""
    if not stream.isatty():
        yield None
        return
    number = stream.fileno()
    before = termios.tcgetattr(number)
    tty.setcbreak(number)
    try:
        yield number
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


async def pressed(number: int) -> AsyncGenerator[str]:
    """Keys of a terminal, until it is closed."""
    while True:
        await trio.lowlevel.wait_readable(number)
        text = os.read(number, 256).decode(errors="replace")
        if not text:
            return
        for key in keys_in(text):
            yield key


WIDTH, HEIGHT = 100, 30  # of a frame that goes into a pipe


async def top(
    *,
    once: Annotated[bool, Parameter(help="Show one frame and end.", negative=())] = False,
    interval: Annotated[float, Parameter(help="Seconds between two looks.", validator=Number(gte=0.1, lte=3600))] = 1.0,
    context: Annotated[CommandContext, INJECTED],
) -> None:
    """Watch queues, workers and failures live.

    q quits, p pauses, tab enlarges another section, arrows scroll. --once writes one frame. What goes on cannot be drawn
    into a pipe: there it writes one JSON object per look.

    Example:
      leasehold top
      leasehold top --once
    """
    async with context.database() as database:
        viewer = _Viewer(context, database, interval)
        wants_json = context.common.output in ("json", "jsonl")
        if once:
            await viewer.show_once(as_text=not wants_json)
        elif wants_json or not context.terminal.stdout.isatty():
            await viewer.write_lines()
        else:
            await viewer.watch()


class _Viewer:
    def __init__(self, context: CommandContext, database: Database, interval: float) -> None:
        self._terminal = context.terminal
        self._database = database
        self._client: Client = context.services.client(database)
        self._interval = interval
        self._watch = Watch()
        self._screen = Screen()
        self._look: Look | None = None
        self._redraw = Signal()

    async def show_once(self, *, as_text: bool) -> None:
        """One frame, or one JSON object."""
        await self._begin()
        await trio.sleep(self._interval)
        look = await self._watch.look(self._client)
        if not as_text:
            self._write(look)
            return
        console = self._terminal.console()
        width, height = console.size if self._terminal.stdout.isatty() else (WIDTH, HEIGHT)
        with console.capture() as captured:
            console.print(view_top(look, Screen(), width, height), width=width)
        self._terminal.stdout.writelines(line.rstrip() + "\n" for line in captured.get().splitlines())

    async def write_lines(self) -> None:
        """A JSON object for each look, until interrupted."""
        await self._begin()
        while True:
            await trio.sleep(self._interval)
            self._write(await self._watch.look(self._client))

    async def watch(self) -> None:
        """The whole screen, until q."""
        console = self._terminal.console()
        with (
            key_by_key(self._terminal.stdin) as keys,
            Live(console=console, screen=True, auto_refresh=False, vertical_overflow="crop") as live,
        ):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._look_again_and_again)
                nursery.start_soon(self._draw, live)
                nursery.start_soon(self._notice_resizing)
                if keys is not None:
                    await self._obey(keys)
                    nursery.cancel_scope.cancel()

    async def _begin(self) -> None:
        (row,) = await self._database.call("get_horizon")
        await self._watch.begin(self._client, row["at"])

    async def _look_again_and_again(self) -> None:
        has_begun = False
        while True:
            if not self._screen.is_paused:
                try:
                    if has_begun:
                        self._look = await self._watch.look(self._client)
                    else:
                        await self._begin()
                        has_begun = True
                    self._screen.trouble = None
                except DatabaseUnavailable as error:
                    self._screen.trouble = f"the database is away: {error}"
                self._redraw.set()
            await trio.sleep(self._interval)

    async def _draw(self, live: Live) -> None:
        while True:
            width, height = live.console.size
            live.update(view_top(self._look, self._screen, width, height), refresh=True)
            await self._redraw.wait()

    async def _notice_resizing(self) -> None:
        with trio.open_signal_receiver(signal.SIGWINCH) as signals:
            async for _ in signals:
                self._redraw.set()

    async def _obey(self, keys: int) -> None:
        async with aclosing(pressed(keys)) as presses:
            async for key in presses:
                if not self._screen.press(key):
                    return
                self._redraw.set()

    def _write(self, look: Look) -> None:
        self._terminal.stdout.write(msgspec.json.encode(look).decode() + "\n")
        self._terminal.stdout.flush()
