"""The one renderer: a command's result as text, json or jsonl on standard output."""

from __future__ import annotations

from typing import cast

import msgspec

from leasehold.cli.runtime.options import Output
from leasehold.cli.runtime.outcome import View
from leasehold.cli.runtime.terminal import Terminal


def render(value: object, view: View, output: Output | None, terminal: Terminal) -> None:
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
            render_text(value, view, terminal)
    terminal.stdout.flush()


def render_text(value: object, view: View, terminal: Terminal) -> None:
    """Print `value` for people."""
    if value == []:
        terminal.say("none")
        return
    console = terminal.console()
    with console.capture() as captured:
        for part in view(value, terminal.now()):
            console.print(part)
    terminal.stdout.writelines(line.rstrip(" ") + "\n" for line in captured.get().splitlines())
