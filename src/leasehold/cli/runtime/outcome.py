"""What a command returns, and how it looks to people: `shown_as` names the view of a command.

The fields of what a command returns are its JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from typing import Any, Generic, ParamSpec, TypeVar

import msgspec
from rich.console import RenderableType

from leasehold.cli.runtime.exit_codes import ExitCode

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


def view_of(command: Callable[..., object]) -> View:
    """The view of a command; one that returns no result has none, and shows nothing."""
    return getattr(command, _VIEW, _view_nothing)


def _view_nothing(_result: object, _now: datetime) -> Sequence[RenderableType]:
    return []
