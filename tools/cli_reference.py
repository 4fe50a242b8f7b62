"""Writes docs/cli.md from the commands themselves: what each does, its arguments and flags, and its example."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from cyclopts import App, Parameter

from leasehold.cli.runtime.exit_codes import describe_exit_codes
from leasehold.cli.runtime.options import CommonOptions
from leasehold.cli.runtime.terminal import Terminal
from leasehold.cli.shell.application import build_application, describe_usage, split_example
from leasehold.cli.shell.command_table import COMMANDS, load_command

TARGET = Path(__file__).parent.parent / "docs" / "cli.md"

LEAD = """# Command line

Made by `python tools/cli_reference.py` from the commands; do not edit. `leasehold COMMAND --help` says the same.

Every command takes the [common options](#common-options). It prints text, with colours and cut to its width
only on a terminal; with `--output json` it prints JSON on standard output and nothing else.
One that waits for a lock in the database says on standard error, after five seconds, who has it.
Flags that are also [settings](settings.md) name their variable.
"""


BAR = "\\|"


class Option(msgspec.Struct, frozen=True):
    """An argument or a flag: its names, what it takes, and what it is."""

    names: tuple[str, ...]
    takes: str
    sentence: str


def render() -> str:
    """The page for the commands as they are."""
    application = build_application(Terminal(sys.stdin, sys.stdout, sys.stderr, {}))
    lines = [LEAD, *index(), ""]
    for title, commands in COMMANDS.items():
        lines += [f"## {title}", ""]
        for name in commands:
            lines += section(name, arguments_of(application, name))
    lines += ["## Common options", "", *table(common_options()), "", "## Exit codes", "", *codes()]
    return "\n".join(lines).rstrip() + "\n"


def index() -> Iterator[str]:
    """Links to all commands, a line for each group."""
    for title, commands in COMMANDS.items():
        links = (f"[{name}](#leasehold-{name.replace(' ', '-')})" for name in commands)
        yield f"- **{title}**: {' · '.join(links)}"


def arguments_of(application: App, name: str) -> list[Option]:
    """The arguments and flags of a command, without the common options."""
    command = application
    for word in name.split():
        command = command[word]
    return [
        Option(each.names, takes(each.hint), each.parameter.help or "")
        for each in command.assemble_argument_collection(parse_docstring=False)
        if each.show
    ]


def common_options() -> list[Option]:
    """Those of every command."""
    hints = get_type_hints(CommonOptions, include_extras=True)
    return [common_option(field.name, hints[field.name]) for field in fields(CommonOptions)]


def common_option(name: str, hint: Any) -> Option:
    """One of them, from its annotation."""
    said = [each for each in hint.__metadata__ if isinstance(each, Parameter)]
    aliases = [alias for each in said for alias in each.alias or ()]
    sentence = next(each.help for each in said if each.help)
    return Option((f"--{name.replace('_', '-')}", *aliases), takes(hint.__origin__), sentence)


def section(name: str, options: list[Option]) -> Iterator[str]:
    """The part of the page about one command."""
    command = load_command(name)
    text, example = split_example(command)
    yield f"### leasehold {name}"
    yield f"`{describe_usage(name, command).removeprefix('Usage: ')}`\n"
    yield text + "\n"
    if options:
        yield from table(options)
        yield ""
    if example:
        yield "```sh\n" + "\n".join(line.removeprefix("  ") for line in example.splitlines()[1:]) + "\n```\n"


def table(options: Iterable[Option]) -> Iterator[str]:
    """A row for each argument or flag."""
    yield "| argument | takes | is |"
    yield "| --- | --- | --- |"
    for each in options:
        yield f"| {', '.join(f'`{name}`' for name in each.names)} | {each.takes} | {each.sentence.replace('|', BAR)} |"


def takes(hint: Any) -> str:
    """What stands behind the flag: INT, FLOAT, STR, one of some words, or nothing."""
    parts = [each for each in get_args(hint) if each is not type(None)]
    origin = get_origin(hint)
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in parts)
    if origin in {Union, UnionType} and len(parts) == 1:
        return takes(parts[0])
    if origin is Annotated:
        return takes(parts[0])
    if origin in {list, tuple, Sequence}:
        return f"{takes(parts[0])} …"
    return {int: "INT", float: "FLOAT", bool: ""}.get(hint, "STR")


def codes() -> Iterator[str]:
    """The exit codes, as `--help` lists them."""
    yield "| code | means |"
    yield "| --- | --- |"
    for line in describe_exit_codes().splitlines()[1:]:
        code, _, meaning = line.strip().partition("  ")
        yield f"| {code} | {meaning.strip()} |"


if __name__ == "__main__":
    TARGET.write_text(render())
