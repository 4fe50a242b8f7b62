"""Exit codes: what each means, and which error leads to which."""

from __future__ import annotations

from enum import IntEnum

from leasehold.errors import (
    BadInput,
    Conflict,
    DatabaseUnavailable,
    LeaseLost,
    NotFound,
    PayloadError,
    SchemaMismatch,
    WaitTimeout,
    WrongAddress,
)


class ExitCode(IntEnum):
    """How a command ended; `MEANINGS` tells it to people."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    CONFLICT = 4
    DATABASE_UNAVAILABLE = 5
    SCHEMA_MISMATCH = 6
    FINDINGS = 7
    TIMED_OUT = 8
    PAYLOAD = 9
    HUNG_UP = 129
    INTERRUPTED = 130
    UNREAD = 141
    TERMINATED = 143


MEANINGS: dict[ExitCode, str] = {
    ExitCode.DONE: "done",
    ExitCode.FAILED: "failed",
    ExitCode.USAGE: "wrong usage, bad input, bad settings, or no database named nor made yet",
    ExitCode.NOT_FOUND: "no such job, chain, schedule, worker, queue, payload or token",
    ExitCode.CONFLICT: "the present state does not allow it",
    ExitCode.DATABASE_UNAVAILABLE: "the database cannot be reached, now or ever as it is addressed",
    ExitCode.SCHEMA_MISMATCH: "the schema is missing, older or newer: run `leasehold migrate`",
    ExitCode.FINDINGS: "doctor or audit found something",
    ExitCode.TIMED_OUT: "the time was up",
    ExitCode.PAYLOAD: "the content of a payload is missing or damaged, or the payload store cannot be used",
    ExitCode.HUNG_UP: "ended by SIGHUP, because its terminal was closed; `run`, `gateway` and `up` drain and end with 0 instead",
    ExitCode.INTERRUPTED: "ended by Ctrl-C",
    ExitCode.UNREAD: "nobody reads its output any more (`| head`); what it had done is done; `run`, `gateway` and `up` go on",
    ExitCode.TERMINATED: "ended by SIGTERM; `run`, `gateway` and `up` drain and end with 0 instead",
}

_CODES: tuple[tuple[type[BaseException], ExitCode], ...] = (
    (PayloadError, ExitCode.PAYLOAD),
    (WrongAddress, ExitCode.DATABASE_UNAVAILABLE),
    (BadInput, ExitCode.USAGE),
    (NotFound, ExitCode.NOT_FOUND),
    (Conflict, ExitCode.CONFLICT),
    (LeaseLost, ExitCode.CONFLICT),
    (WaitTimeout, ExitCode.TIMED_OUT),
    (DatabaseUnavailable, ExitCode.DATABASE_UNAVAILABLE),
    (SchemaMismatch, ExitCode.SCHEMA_MISMATCH),
    (KeyboardInterrupt, ExitCode.INTERRUPTED),
    (BrokenPipeError, ExitCode.UNREAD),
)


def exit_code_of(error: BaseException) -> ExitCode:
    """The exit code for an error; FAILED for what the table does not name."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), ExitCode.FAILED)


def describe_exit_codes() -> str:
    """The table as it stands below `leasehold --help`."""
    return "\n".join(["Exit codes:", *(f"  {code.value}  {meaning}" for code, meaning in MEANINGS.items())])
