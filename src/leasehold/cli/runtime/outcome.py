"""The one renderer: a command's result on standard output, as text unless json or jsonl is asked for."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Generic, ParamSpec, TypeVar, cast

import msgspec
from rich.console import RenderableType

from leasehold.cli.runtime.exit_codes import ExitCode
from leasehold.cli.runtime.options import Output
from leasehold.cli.runtime.terminal import Terminal

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
P = ParamSpec("P")

# A result and the present instant; returns what to print, part by part.
View = Callable[[Any, datetime], Sequence[RenderableType]]

_VIEW = "leasehold_view"


class Outcome(msgspec.Struct, Generic[T_co], frozen=True):
    """A result that is printed and ends with a code of its own."""

    value: T_co
    exit_code: ExitCode


class Finally(msgspec.Struct, frozen=True):
    """Not a result yet: `run` is called once the command's event loop has ended, and returns the exit code."""

    run: Callable[[], int]


def shown_as(
    view: Callable[[T, datetime], Sequence[RenderableType]],
) -> Callable[
    [Callable[P, Coroutine[Any, Any, T | Outcome[T] | None]]], Callable[P, Coroutine[Any, Any, T | Outcome[T] | None]]
]:
    """Decorator of a command: `view` shows what it returns."""

    def name_view(
        command: Callable[P, Coroutine[Any, Any, T | Outcome[T] | None]],
    ) -> Callable[P, Coroutine[Any, Any, T | Outcome[T] | None]]:
        setattr(command, _VIEW, view)
        return command

    return name_view


def one_of(
    view: Callable[[list[T], datetime], Sequence[RenderableType]],
) -> Callable[[T, datetime], Sequence[RenderableType]]:
    """A view of lists, for a command that returns one record."""
    return lambda record, now: view([record], now)


def view_of(command: Callable[..., object]) -> View:
    """The view of a command; one that returns no result has none, and shows nothing."""
    return getattr(command, _VIEW, _view_nothing)


def _view_nothing(_result: object, _now: datetime) -> Sequence[RenderableType]:
    return []


def render(value: object, view: View, output: Output | None, terminal: Terminal) -> None:
    """Print `value`; None adds nothing to what the command has printed itself. Without a choice it is text, plain and uncut where
    there is no terminal."""
    if value is None:
        with suppress(ValueError):  # a handler has closed it
            terminal.stdout.flush()
        return
    match output or "text":
        case "json":
            text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
            terminal.stdout.write(text + "\n")
        case "jsonl":
            lines = cast("list[object]", value) if isinstance(value, list) else [value]
            terminal.stdout.writelines(msgspec.json.encode(line).decode() + "\n" for line in lines)
        case "text":
            render_text(value, view, terminal)
    terminal.stdout.flush()


def render_more(values: Sequence[object], view: View, output: Output | None, terminal: Terminal) -> None:
    """Print what has come since the last call: as JSON it is a line for each, for the list has no end. Where nothing has come,
    it raises BrokenPipeError all the same once nobody reads."""
    if values:
        render(values, view, "jsonl" if output == "json" else output, terminal)
    elif not terminal.is_read():
        raise BrokenPipeError


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
