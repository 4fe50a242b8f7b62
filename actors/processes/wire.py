"""What a worker and its processes say to each other, as MessagePack: no pickles of the user's objects."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

Reply = tuple[int, int, bytes]
"""The number of the request that it answers, the pid of the process that does, and the encoded answer."""


class Request(msgspec.Struct, frozen=True):
    """Call the handler at this place.

    Attributes:
        module, qualname: where it is.
        row: what `claim_jobs` answered with, without the args.
        incarnation, worker_id: of the worker.
        args: JSON.
        most_output: bytes that the output may have as JSON.
    """

    module: str
    qualname: str
    row: dict[str, Any]
    incarnation: UUID
    worker_id: str
    args: str
    most_output: int = 1_048_576


class Returned(msgspec.Struct, frozen=True, tag=True):
    """The handler returned; `output` is JSON, None for null."""

    output: str | None


class ContinuedReply(msgspec.Struct, frozen=True, tag=True):
    """The handler returned a `ContinueWith`, pickled: it holds jobs, whose args may have any type."""

    pickled: bytes


class WaitsReply(msgspec.Struct, frozen=True, tag=True):
    """The handler raised `WaitFor`: its blockers, pickled, and its delay."""

    pickled: bytes
    delay: float | None


class Raised(msgspec.Struct, frozen=True, tag=True):
    """The handler raised, or could not be called.

    Attributes:
        error: type, message and traceback.
        meaning: of the exception, whatever its own class is called.
        after: seconds, of Retry and Reschedule. at: the time of a Reschedule that has one, instead.
    """

    error: dict[str, Any]
    meaning: Literal["failure", "retry", "discard", "reschedule", "outage"] = "failure"
    after: float = 0.0
    at: datetime | None = None


Answer = Returned | ContinuedReply | WaitsReply | Raised


class Setup(msgspec.Struct, frozen=True):
    """How a new process shall behave.

    Attributes:
        log_level, log_format: of the worker; None leaves logging alone.
        stack_file: takes the stack of a crash.
        output_file: takes what handlers say of themselves.
    """

    log_level: int | None
    log_format: Literal["text", "json"]
    stack_file: str | None
    output_file: str | None
