"""How an attempt ended, and how an exception is told to people."""

from __future__ import annotations

import traceback
from typing import Any

import msgspec

from leasehold.actors.held import Held
from leasehold.arguments import encode_args
from leasehold.errors import InvalidArgs
from leasehold.retry import Discard, Reschedule, Retry

MOST_MESSAGE = 2_000
MOST_TRACEBACK = 10_000
MOST_OUTPUT_BYTES = 1_048_576


class Completed(msgspec.Struct, frozen=True):
    """The handler returned; `output` is JSON, None for null."""

    held: Held
    output: str | None


class Failed(msgspec.Struct, frozen=True):
    """The handler raised, ran out of time, or could not be called."""

    held: Held
    error: dict[str, str]
    retry_in: float | None = None
    discard: bool = False


class Rescheduled(msgspec.Struct, frozen=True):
    """The handler asked to run later."""

    held: Held
    after: float
    reason: str


class Released(msgspec.Struct, frozen=True):
    """The job never started, or was interrupted by a shutdown: it is handed back."""

    held: Held


Outcome = Completed | Failed | Rescheduled | Released


def completed(held: Held, output: Any) -> Completed | Failed:
    """The outcome of a handler that returned `output`; one that JSON cannot carry fails for good, since it would again."""
    if output is None:
        return Completed(held, None)
    try:
        encoded = encode_args(output, "output")
    except InvalidArgs as error:
        return Failed(held, describe(error) | {"type": "InvalidOutput"}, discard=True)
    if len(encoded) > MOST_OUTPUT_BYTES:
        message = f"output takes {len(encoded)} bytes; {MOST_OUTPUT_BYTES} is the most"
        return Failed(held, {"type": "InvalidOutput", "message": message, "traceback": ""}, discard=True)
    return Completed(held, encoded.decode())


def raised(held: Held, error: BaseException) -> Failed | Rescheduled:
    """The outcome of a handler that raised. Never raises, whatever somebody made of the exception's class."""
    try:
        if isinstance(error, Reschedule):
            return Rescheduled(held, float(error.after), sanitized(str(error)[:MOST_MESSAGE]))
        retry_in = float(error.after) if isinstance(error, Retry) else None
    except Exception as second:
        return Failed(held, describe(second))
    return Failed(held, describe(error), retry_in=retry_in, discard=isinstance(error, Discard))


def describe(error: BaseException) -> dict[str, str]:
    """Type, message and traceback, in what Postgres can keep and people want to read. Never raises."""
    try:
        message = str(error)
        lines = traceback.format_exception(error)
    except BaseException:
        message, lines = "the exception cannot be printed", []
    return {
        "type": sanitized(type(error).__qualname__),
        "message": sanitized(message[:MOST_MESSAGE]),
        "traceback": sanitized("".join(lines)[-MOST_TRACEBACK:]),
    }


def sanitized(text: str) -> str:
    """Without what Postgres cannot keep: NUL and lone surrogates become U+FFFD."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
