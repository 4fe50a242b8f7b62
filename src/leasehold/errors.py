"""Everything leasehold raises, in one tree.

    LeaseholdError
    ├── BadInput                  refused at the border; nothing was written
    │   ├── InvalidArgs           args do not fit the kind, or are no JSON that Postgres can keep
    │   ├── UnknownKind           no handler is registered for the kind
    │   ├── DuplicateKind         two handlers for one kind
    │   ├── DuplicateSchedule     two schedules of one name in the code
    │   ├── NoTransaction         a connection of the caller's has begun no transaction
    │   └── SettingsError         a setting is unknown or out of range
    ├── NotFound
    │   ├── UnknownJob            no job has this id
    │   ├── UnknownSchedule       no schedule has this name or id
    │   ├── UnknownToken          no token has this id
    │   ├── UnknownWorker         no worker has this id or name
    │   └── UnknownCommand        no command to a worker has this id
    ├── Conflict                  the state of the thing forbids it
    │   ├── WrongState            e.g. cancelling a finished job
    │   ├── UniqueConflict        another job has the unique key; carries its id
    │   ├── IdempotencyMismatch   another request had the idempotency key
    │   └── RowLocked             another session holds the job's row; the message names it
    ├── LeaseLost                 this attempt does not hold the job any more
    ├── ChainEnded                a chain that was waited for has no output; carries how it stands
    │   ├── ChainFailed
    │   └── ChainCancelled
    ├── WaitTimeout               the chain was still open when the time was up; it goes on
    ├── HandlerFailed             a handler in a process raised; what middlewares see of it
    │   ├── ProcessCrashed        its process was killed or ended itself
    │   └── MemoryLimitExceeded   its process had more memory than its kind allows, and was killed
    ├── DatabaseError
    │   ├── DatabaseUnavailable   connection refused, lost, timed out: try again
    │   │   ├── EpochOver         the database has failed over or was restored; its workers begin anew
    │   │   ├── LockTimeout       somebody else held a lock for too long
    │   │   └── ListenerDeaf      a pooler keeps notifications from us
    │   ├── TransactionEnded      SQL of the caller's ended a transaction that leasehold commits
    │   └── QueryRefused          Postgres refused the statement; carries the SQLSTATE
    │       └── ValueRefused      for a value in it (classes 22 and 54); also a BadInput
    ├── SchemaMismatch            the database's schema is missing, older or newer than this code
    └── ActorFailed               an actor failed for a reason that a restart does not cure

The docstring of each class is its default message.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from leasehold.records.chains import ChainRecord

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


class UnknownKind(BadInput):
    """No handler is registered for this kind."""


class DuplicateKind(BadInput):
    """A handler is registered for this kind already."""


class DuplicateSchedule(BadInput):
    """A schedule of this name is declared already."""


class NoTransaction(BadInput):
    """The connection is in no transaction: begin one first. SQLAlchemy begins at its first statement, so execute one before."""


class SettingsError(BadInput):
    """A setting is unknown or out of range."""


class NotFound(LeaseholdError):
    """There is no such thing."""

    sqlstate = "LH002"


class UnknownJob(NotFound):
    """No job has this id."""


class UnknownSchedule(NotFound):
    """No schedule has this name or id."""


class UnknownToken(NotFound):
    """No token has this id."""


class UnknownWorker(NotFound):
    """No worker has this id or name."""


class UnknownCommand(NotFound):
    """No command to a worker has this id."""


class LeaseLost(LeaseholdError):
    """This attempt does not hold the job any more; whatever it writes is refused."""

    sqlstate = "LH003"


class Conflict(LeaseholdError):
    """The present state forbids it."""


class WrongState(Conflict):
    """The job's state does not allow this."""

    sqlstate = "LH004"


class UniqueConflict(Conflict):
    """Another job has the unique key already.

    Attributes:
        job_id: that job, as far as the database told it.
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


class ChainEnded(LeaseholdError):
    """The chain has ended without an output.

    Attributes:
        chain: how it stands, a `ChainRecord`.
    """

    def __init__(self, message: str | None = None, *, chain: ChainRecord | None = None) -> None:
        super().__init__(message)
        self.chain = chain


class ChainFailed(ChainEnded):
    """The last job of the chain has failed for good."""


class ChainCancelled(ChainEnded):
    """The last job of the chain was cancelled."""


class WaitTimeout(LeaseholdError):
    """The chain was still open when the time was up."""


class HandlerFailed(LeaseholdError):
    """The handler raised in its process."""


class ProcessCrashed(HandlerFailed):
    """The process of the handler ended before the handler did."""


class MemoryLimitExceeded(HandlerFailed):
    """The process of the handler took more memory than its kind allows."""


class DatabaseError(LeaseholdError):
    """The database did not do what it was asked."""


class DatabaseUnavailable(DatabaseError):
    """The database cannot be reached right now; try again."""


class LockTimeout(DatabaseUnavailable):
    """Somebody else held a lock for too long; try again."""


class ListenerDeaf(DatabaseUnavailable):
    """Notifications do not come through the pooler before Postgres: name a direct connection, or set LEASEHOLD_NOTIFY=off."""


class EpochOver(DatabaseUnavailable):
    """The database has failed over or was restored; what this process held before is looked at first."""

    sqlstate = "LH009"


class TransactionEnded(DatabaseError):
    """SQL in the transaction has ended it; what a COMMIT wrote stays. Leave BEGIN, COMMIT and ROLLBACK to leasehold."""


class QueryRefused(DatabaseError):
    """Postgres refused the statement."""

    def __init__(self, message: str | None = None, *, sqlstate: str | None = None) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate


class ValueRefused(BadInput, QueryRefused):
    """Postgres can neither keep this value nor compute with it."""


class SchemaMismatch(LeaseholdError):
    """The schema in the database does not fit this version of leasehold; run `leasehold migrate`."""

    sqlstate = "LH005"


class ActorFailed(LeaseholdError):
    """An actor failed for a reason that a restart does not cure."""


def tell(error: E, told: dict[str, Any]) -> E:
    """Have the failed attempt tell this instead of what `error` says itself: it stands for one raised elsewhere."""
    error.__dict__["leasehold_told"] = told
    return error


def told_of(error: BaseException) -> dict[str, Any] | None:
    """What `tell` gave it."""
    return error.__dict__.get("leasehold_told")
