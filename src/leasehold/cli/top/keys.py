"""Keys as they are pressed, from a terminal that does not wait for the line to end."""

from __future__ import annotations

import os
import re
import termios
import tty
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from typing import TextIO

import trio

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
