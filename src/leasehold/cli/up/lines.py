"""The lines that `leasehold up` shows: after the name of their process, each process in a colour of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from leasehold.cli.runtime.terminal import Terminal
    from leasehold.cli.up.processes import Level, ShowLine

COLOURS = (36, 32, 33, 35, 34, 96, 92, 93, 95, 94)
RESET = "\x1b[0m"
OURSELVES = "up"
LONGEST_NAME = 10
SEVERITIES: Mapping[str, int] = {"WARNING": 33, "ERROR": 31, "CRITICAL": 31}
SEVERITY = re.compile(rf"^(?:[\d:.]+ )?({'|'.join(SEVERITIES)})\b")


def line_writer(terminal: Terminal, names: Sequence[str], *, as_text: bool) -> ShowLine:
    """Writes lines to standard output: after the name of their process, or as JSON where they are not JSON already.

    `names` are all that will be, in an order that decides their colours: the same at each start.
    """
    has_colour = terminal.has_colour(terminal.stdout)
    # A terminal shows ^C where we are about to write.
    fresh_line = "\r" if terminal.stdout.isatty() else ""
    colours = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(names)}
    width = max([LONGEST_NAME, *map(len, names)])

    def as_shown(name: str, line: str, level: Level) -> str:
        prefix = f"{name:<{width}} │ "
        if level != "info":
            line = f"{level.upper()} {line}"
        if has_colour:
            prefix = f"\x1b[{colours.get(name, 1)}m{prefix}{RESET}"
            if found := SEVERITY.match(line):
                line = f"\x1b[{SEVERITIES[found[1]]}m{line}{RESET}"
        return (fresh_line if name == OURSELVES else "") + prefix + line

    def as_json(name: str, line: str, level: Level) -> str:
        if line.startswith("{"):
            return line
        fields = {"at": terminal.now(), "level": level, "logger": "leasehold.up", "process": name, "message": line}
        return msgspec.json.encode(fields).decode()

    def show(name: str, line: str, level: Level = "info", /) -> None:
        # The reader of our lines may be gone (`| tee` after Ctrl-C, a closed terminal); the processes still want to be drained.
        with suppress(OSError):
            terminal.stdout.write((as_shown if as_text else as_json)(name, line, level) + "\n")
            terminal.stdout.flush()

    return show
