"""The cyclopts application, made from the table of commands."""

from __future__ import annotations

import inspect
from collections.abc import Collection

from cyclopts import App, Group
from rich.console import Console

from leasehold.cli.runtime.exit_codes import describe_exit_codes
from leasehold.cli.runtime.options import COMMON
from leasehold.cli.runtime.terminal import Terminal
from leasehold.cli.shell.command_table import COMMANDS, MODULES, PARENTS, CommandFunction, load_command

SUBCOMMANDS = Group("Commands", sort_key=0)
SUMMARY = """Background jobs on nothing but Postgres.

Try: leasehold up"""
HELP_WIDTH = 100


def build_application(terminal: Terminal, names: Collection[str] = MODULES) -> App:
    """The cyclopts application with these commands and their help. Its launcher is added by the caller."""
    application = App(
        name="leasehold",
        help=SUMMARY,
        help_epilogue=describe_exit_codes(),
        help_format="plaintext",
        version=_version,
        console=_help_console(terminal),
        group_commands=Group("Help", sort_key=80),
    )
    application.meta.group_parameters = COMMON
    for number, (title, commands) in enumerate(COMMANDS.items()):
        group = Group(title, sort_key=number)
        for position, name in enumerate(commands):
            if name in names:
                _add(application, group, position, name, load_command(name))
    return application


def _add(application: App, group: Group, position: int, name: str, command: CommandFunction) -> None:
    text, example = split_example(command)
    first, _, second = name.partition(" ")
    if second and first not in application:
        application.command(App(name=first, group=group, help=PARENTS[first], help_epilogue="", sort_key=position))
    parent, place = (application[first], SUBCOMMANDS) if second else (application, group)
    parent.command(
        command,
        name=second or first,
        group=place,
        help=text,
        help_epilogue=example,
        usage=describe_usage(name, command),
        sort_key=position,
    )


def describe_usage(name: str, command: CommandFunction) -> str:
    """The usage line, which calls the arguments what the table below it calls them."""
    parts = ["Usage: leasehold", name, "[OPTIONS]"]
    for each in inspect.signature(command).parameters.values():
        if each.kind is each.POSITIONAL_ONLY:
            parts.append(each.name.upper() if each.default is each.empty else f"[{each.name.upper()}]")
        elif each.kind is each.VAR_POSITIONAL:
            parts.append(f"[{each.name.upper()}...]")
    return " ".join(parts)


def split_example(command: CommandFunction) -> tuple[str, str]:
    """A command's docstring: what it does, a line per paragraph, and the example at its end."""
    text, _, example = (inspect.getdoc(command) or "").partition("\n\nExample:\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return text, f"Example:\n{example}" if example else ""


class _HelpConsole(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the launcher, as for all that commands write."""
        raise BrokenPipeError


def _help_console(terminal: Terminal) -> Console:
    width = None if terminal.stdout.isatty() else HELP_WIDTH
    colours = "auto" if terminal.has_colour(terminal.stdout) else None
    return _HelpConsole(file=terminal.stdout, width=width, color_system=colours, highlight=False)


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415

    return version("leasehold")
