"""What was refused: bad input, what is not there, what the state of the thing forbids."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

E = TypeVar("E", bound=BaseException)


class LeaseholdError(Exception):
    """Something in leasehold went wrong."""

    sqlstate: str | None = None

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or inspect.cleandoc(type(self).__doc__ or type(self).__name__).splitlines()[0])


class BadInput(LeaseholdError):
    """The input was refused; nothing was written."""

    sqlstate = "LH001"


class InvalidArgs(BadInput):
    """The args do not fit the kind."""


class WrongFlavour(BadInput):
    """The handler awaits a library that was written for another event loop; give its kind another `runs`."""


class UnknownKind(BadInput):
    """No handler is registered for this kind."""


class DuplicateKind(BadInput):
    """A handler is registered for this kind already."""


class DuplicateSchedule(BadInput):
    """A schedule of this name is declared already."""


class NoTransaction(BadInput):
    """The connection is in no transaction: begin one first. SQLAlchemy begins at its first statement, so execute one before."""


class ClientNotOpen(BadInput, AttributeError):
    """The client is not open: write `async with open_client(…) as client:` and use it inside that block."""


class ClientClosed(BadInput):
    """The client is closed: its `async with` block has ended. Use it inside that block, in tasks that were started there."""


class SettingsError(BadInput):
    """A setting is unknown or out of range."""


class NoPayloadStore(BadInput):
    """No payload store is set: say where payloads lie with LEASEHOLD_PAYLOADS_STORE, a folder or s3://bucket/prefix."""


class PayloadTooLarge(BadInput):
    """The payload is larger than the limit; nothing was written."""


class NoIdentities(SettingsError):
    """A kind needs egress identities, and there are none: `leasehold egress add`."""


class NotFound(LeaseholdError):
    """There is no such thing."""

    sqlstate = "LH002"


class UnknownJob(NotFound):
    """No job has this id."""


class UnknownSchedule(NotFound):
    """No schedule has this name or id."""


class UnknownToken(NotFound):
    """No token has this id."""


class UnknownIdentity(NotFound):
    """No egress identity has this name."""


class UnknownWorker(NotFound):
    """No worker has this id or name."""


class UnknownCommand(NotFound):
    """No command to a worker has this id."""


class UnknownPayload(NotFound):
    """No payload has this id, or it was deleted."""


class UnknownSource(NotFound):
    """No source has this name."""


class Conflict(LeaseholdError):
    """The present state forbids it."""


class WrongState(Conflict):
    """The job's state does not allow this."""

    sqlstate = "LH004"


class UniqueConflict(Conflict):
    """Another job has the unique key already.

    `job_id` is that job, as far as the database told it.
    """

    sqlstate = "LH006"

    def __init__(self, message: str | None = None, *, job_id: int | None = None) -> None:
        super().__init__(message)
        self.job_id = job_id


class IdempotencyMismatch(Conflict):
    """The idempotency key was used before for another request."""

    sqlstate = "LH007"


class RowLocked(Conflict):
    """Another session holds the job's row; try again, or end that session."""

    sqlstate = "LH008"


def tell(error: E, told: dict[str, Any]) -> E:
    """Have the failed attempt tell this instead of what `error` says itself: it stands for one raised elsewhere."""
    error.__dict__["leasehold_told"] = told
    return error


def told_of(error: BaseException) -> dict[str, Any] | None:
    """What `tell` gave it."""
    return error.__dict__.get("leasehold_told")
