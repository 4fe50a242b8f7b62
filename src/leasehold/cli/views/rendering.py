"""The one renderer: a command's result as text, json or jsonl on standard output."""

from __future__ import annotations

from typing import cast

import msgspec

from leasehold.cli.shell.options import Output
from leasehold.cli.shell.terminal import Terminal
from leasehold.cli.views.registry import view


def render(value: object, output: Output | None, terminal: Terminal) -> None:
    """Print `value`; None prints nothing. Without a choice: text on a terminal, json elsewhere."""
    if value is None:
        return
    chosen = output or ("text" if terminal.stdout.isatty() else "json")
    match chosen:
        case "json":
            text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
            terminal.stdout.write(text + "\n")
        case "jsonl":
            lines = cast("list[object]", value) if isinstance(value, list) else [value]
            terminal.stdout.writelines(msgspec.json.encode(line).decode() + "\n" for line in lines)
        case "text":
            render_text(value, terminal)
    terminal.stdout.flush()


def render_text(value: object, terminal: Terminal) -> None:
    """Print `value` for people."""
    if value == []:
        terminal.say("none")
        return
    console = terminal.console()
    with console.capture() as captured:
        for part in view(value, terminal.now()):
            console.print(part)
    terminal.stdout.writelines(line.rstrip(" ") + "\n" for line in captured.get().splitlines())
