"""Checks of what callers give. Each raises BadInput, which names the field, what it takes and what it got."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, cast

from leasehold.errors import BadInput

LONGEST_TIME = 3_155_760_000
"""Seconds: 100 years. No delay, timeout, deadline or interval is longer."""
LEAST_INTEGER, MOST_INTEGER = -(2**31), 2**31 - 1
LARGEST_BIGINT = 2**63 - 1
MOST_ATTEMPTS = 1_000_000
LONGEST_NAME, LONGEST_KEY, LONGEST_REASON = 200, 500, 10_000

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def refusal(field: str, takes: str, value: object) -> BadInput:
    """The error to raise."""
    return BadInput(f"{field} must be {takes}, not {value!r:.100}")


def is_number(value: object) -> bool:
    """Whether it is an int or a float; True and False are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def seconds(field: str, value: object, takes: str = "a number of seconds or a timedelta") -> float:
    """A length of time in seconds. The caller checks its range, and so NaN and infinity."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    if not is_number(value):
        raise refusal(field, takes, value)
    return cast("float", value)


def check_integer(field: str, value: object, least: int = LEAST_INTEGER, most: int = MOST_INTEGER) -> None:
    """Refuse a value that is not an int from `least` to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise refusal(field, f"an integer from {least} to {most}", value)


def check_name(field: str, value: object) -> None:
    """Refuse a value that cannot be the name of a kind."""
    if not isinstance(value, str):
        raise refusal(field, "text", value)
    if not 1 <= len(value.encode(errors="replace")) <= LONGEST_NAME or _CONTROL.search(value):
        raise refusal(field, f"text of 1 to {LONGEST_NAME} bytes without control characters", value)


def check_queue(field: str, value: object) -> None:
    """Refuse a value that cannot be the name of a queue. Settings list queues with commas between them, and drop spaces there."""
    check_name(field, value)
    if "," in str(value):
        raise refusal(field, "a name without a comma", value)
    if str(value).strip(" ") != value:
        raise refusal(field, "a name without a space at an end", value)


def check_reason(value: object) -> None:
    """Refuse a value that cannot be the reason for something: it is for people. None is no reason."""
    if value is None:
        return
    if not isinstance(value, str):
        raise refusal("reason", "text", value)
    if (size := len(value.encode(errors="replace"))) > LONGEST_REASON:
        raise BadInput(f"reason must have at most {LONGEST_REASON} bytes, not {size}")


def check_choice(field: str, value: object, choices: Sequence[str]) -> None:
    """Refuse a value that is not one of `choices`."""
    if value not in choices:
        raise refusal(field, f"one of {', '.join(choices)}", value)


def check_options(of: str, given: Mapping[str, object], known: Collection[str]) -> None:
    """Refuse a keyword argument that is not an option. Raises TypeError, which suggests the nearest name."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise TypeError(f"{of} has no option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


def items(field: str, value: object, of: str) -> list[Any]:
    """The items of a list, a tuple or another iterable. Refuses text; `of` says what the items should be."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise refusal(field, f"a list of {of}", value)
    return list(cast("Iterable[Any]", value))


def check_function(field: str, value: object) -> Callable[..., Any]:
    """The value, if it can be called. Refuses all others."""
    if not callable(value):
        raise refusal(field, "a function", value)
    return value


def check_middleware(function: object, takes: str = "the attempt and call_next") -> None:
    """Refuse a value that cannot be a middleware; `takes` names the two arguments that it is called with."""
    called = check_function("a middleware", function)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise BadInput(f"middleware {function!r:.100} is a generator; have it return what `await call_next()` returns")
    try:
        signature = inspect.signature(called)
    except ValueError:  # one that is written in C may not say what it takes
        return
    try:
        signature.bind(None, None)
    except TypeError:
        name = getattr(function, "__qualname__", repr(function)[:100])
        raise BadInput(
            f"middleware {name} takes ({', '.join(signature.parameters)}); it is called with two arguments, {takes}"
        ) from None


def check_middlewares(functions: object) -> None:
    """Refuse a value that is not an iterable of middlewares."""
    if isinstance(functions, str) or not isinstance(functions, Iterable):
        raise refusal("middlewares", "a list of functions", functions)
    for function in cast("Iterable[object]", functions):
        check_middleware(function)
