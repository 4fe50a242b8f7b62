"""Values that middlewares hand to handlers, each under its type."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from leasehold.errors import BadInput

T = TypeVar("T")


class MissingContext(LookupError):
    """No middleware of the kind has put a value of this type into the context."""


class Context:
    """Values by type: a middleware says `context[DbSession] = session`, and the handler reads `job.context[DbSession]`.

    Type checkers know that this is a DbSession. The context lives as long as the attempt. Handlers that run in a process of
    their own have an empty one.
    """

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: dict[type[Any], Any] = {}

    def __setitem__(self, type_: type[T], value: T) -> None:
        """Put a value. Raises BadInput if it is not an instance of the type."""
        if not isinstance(value, type_):
            raise BadInput(f"context[{type_.__qualname__}] takes a {type_.__qualname__}, not {value!r}")
        self._values[type_] = value

    def __getitem__(self, type_: type[T]) -> T:
        """The value of this type. Raises MissingContext if there is none."""
        try:
            return cast("T", self._values[type_])
        except KeyError:
            there = ", ".join(sorted(each.__qualname__ for each in self._values)) or "nothing"
            raise MissingContext(
                f"no middleware of this kind put a {type_.__qualname__} into the context; there is: {there}"
            ) from None

    def get(self, type_: type[T]) -> T | None:
        """The value of this type; None if there is none."""
        return cast("T | None", self._values.get(type_))

    def __contains__(self, type_: type[Any]) -> bool:
        return type_ in self._values

    def __repr__(self) -> str:
        return f"<Context of {', '.join(each.__qualname__ for each in self._values) or 'nothing'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_empty, ())


class _NoContext(Context):
    """The context that all jobs without middlewares share, so nothing can be put into it."""

    __slots__ = ()

    def __setitem__(self, type_: type[T], value: T) -> None:
        raise BadInput("only a middleware puts values into the context; this kind has none")


NO_CONTEXT: Context = _NoContext()


def _empty() -> Context:
    return NO_CONTEXT
