"""Everything leasehold raises, in one tree. The docstring of each class is its default message.

LeaseholdError
├── BadInput                  refused at the border; nothing was written
│   ├── InvalidArgs           args do not fit the kind, or are no JSON that Postgres can keep
│   ├── UnknownKind           no handler is registered for the kind
│   ├── WrongFlavour          a handler awaits a library of another event loop than its own
│   ├── DuplicateKind         two handlers for one kind
│   ├── DuplicateSchedule     two schedules of one name in the code
│   ├── NoTransaction         a connection of the caller's has begun no transaction
│   ├── ClientNotOpen         a client is used outside its `async with` block; ClientClosed: after it
│   ├── SettingsError         a setting is unknown or out of range
│   │   ├── WrongAddress      the database can never be reached as it is addressed; a DatabaseError, too
│   │   └── NoIdentities      a kind needs egress identities, and there are none
│   ├── NoPayloadStore        nobody said where payloads lie
│   └── PayloadTooLarge       its content is larger than the limit
├── NotFound                  nothing has this id or name: UnknownJob, UnknownSchedule, UnknownToken, UnknownWorker,
│                             UnknownCommand, UnknownIdentity, UnknownPayload, UnknownSource
├── Conflict                  the state of the thing forbids it
│   ├── WrongState            e.g. cancelling a finished job
│   ├── UniqueConflict        another job has the unique key; carries its id
│   ├── IdempotencyMismatch   another request had the idempotency key
│   └── RowLocked             another session holds the job's row; the message names it
├── LeaseLost                 this attempt does not hold the job any more
├── ChainEnded                a chain that was waited for has no output: ChainFailed, ChainCancelled; carries how it stands
├── WaitTimeout               the chain was still open when the time was up; it goes on
├── HandlerFailed             a handler in a process raised; what middlewares see of it
│   ├── ProcessCrashed        its process was killed or ended itself
│   └── MemoryLimitExceeded   its process had more memory than its kind allows, and was killed
├── DatabaseError
│   ├── DatabaseUnavailable   connection refused, lost, timed out: try again
│   │   ├── EpochOver         the database has failed over or was restored; its workers begin anew
│   │   ├── NoAnswer          the database did not answer in time
│   │   ├── LockTimeout       somebody else held a lock for too long
│   │   └── ListenerDeaf      a pooler keeps notifications from us
│   ├── TransactionEnded      SQL of the caller's ended a transaction that leasehold commits
│   └── QueryRefused          Postgres refused the statement; carries the SQLSTATE; ValueRefused, a BadInput too: for a value in it
├── PayloadError              the content of a payload cannot be written or read
│   ├── PayloadMissing        the store does not have it any more; PayloadDamaged: it is not what was saved
│   └── StoreUnavailable      the disk is full, the bucket is gone, the store does not answer
├── SchemaMismatch            the database's schema is newer than this code
│   └── SchemaOutdated        it is missing or older than this code
└── ActorFailed               an actor failed for a reason that a restart does not cure
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from leasehold.records.jobs import ChainRecord

E = TypeVar("E", bound=BaseException)

# Connection trouble, shutdown and start-up, too many connections, serialization and deadlock, lock and statement
# timeouts, a server that turned read-only under a failover.
# A user, a password and a database may be there later: until then it is told what is missing.
TRANSIENT = frozenset(
    {"28P01", "28000", "3D000", "57P01", "57P02", "57P03", "57P05", "57014", "53300", "40001", "40P01", "25006"}
)
TRANSIENT_CLASSES = frozenset({"08", "53"})
BAD_INPUT_CLASSES = frozenset({"22", "54"})
LOCKED = "55P03"
FORBIDDEN = "42501"
MISSING = frozenset({"3F000", "42P01", "42883"})
# What a newcomer meets at the first connection, and what helps.
ADVICE = {
    "3D000": "make it with `createdb`, or name another database",
    "28P01": "look at the user and the password in the address",
    "28000": "look at the user in the address, and at pg_hba.conf",
    "25006": "the server is a standby now, or the transaction was begun READ ONLY",
}


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
    """A handler or a middleware awaits a library that was written for another event loop. The message says what to write."""


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
    """The client is closed: its `async with` block has ended, or `close` was called. Use it before, or open one with `connect`."""


class SettingsError(BadInput):
    """A setting is unknown or out of range."""


class NoPayloadStore(BadInput):
    """No payload store is set: say where payloads lie with LEASEHOLD_PAYLOADS_STORE, or open_client(dsn, payloads=…) with a DSN."""


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


class LeaseLost(LeaseholdError):
    """This attempt does not hold the job any more; whatever it writes is refused."""

    sqlstate = "LH003"


class ChainEnded(LeaseholdError):
    """The chain has ended without an output.

    `chain` is how it stands, a `ChainRecord`.
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


class WrongAddress(SettingsError, DatabaseError):
    """The database can never be reached as it is addressed: correct LEASEHOLD_DATABASE_URL, or what it names."""


class DatabaseUnavailable(DatabaseError):
    """The database cannot be reached right now; try again."""


class NoAnswer(DatabaseUnavailable):
    """The database did not answer in time: it is slow or away, or somebody has locked what was asked for."""


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


class PayloadError(LeaseholdError):
    """The content of a payload cannot be written or read."""


class PayloadMissing(PayloadError):
    """The store does not have the content of the payload any more; `leasehold audit` finds all such payloads.

    `location` is what is missing, within the store.
    """

    def __init__(self, message: str | None = None, *, location: str | None = None) -> None:
        super().__init__(message)
        self.location = location


class PayloadDamaged(PayloadError):
    """The content of the payload is not what was saved."""


class StoreUnavailable(PayloadError):
    """The payload store cannot be used right now; nothing was written."""


class SchemaMismatch(LeaseholdError):
    """The schema in the database does not fit this version of leasehold."""

    sqlstate = "LH005"


class SchemaOutdated(SchemaMismatch):
    """The schema is missing, or older than this version of leasehold works on: run `leasehold migrate`."""


class ActorFailed(LeaseholdError):
    """An actor failed for a reason that a restart does not cure."""


def attach_report(error: E, report: dict[str, Any]) -> E:
    """Record this report of the failed attempt instead of a description of `error`, which stands for one raised elsewhere."""
    error.__dict__["leasehold_report"] = report
    return error


def report_of(error: BaseException) -> dict[str, Any] | None:
    """What `attach_report` attached."""
    return error.__dict__.get("leasehold_report")


OWN_ERRORS: dict[str, type[LeaseholdError]] = {
    "LH001": BadInput,
    "LH003": LeaseLost,
    "LH004": WrongState,
    "LH005": SchemaMismatch,
    "LH007": IdempotencyMismatch,
    "LH008": RowLocked,
    "LH009": EpochOver,
    "LH010": WrongAddress,
}

# LH002 with the name of a table says what is missing; without, it is a job or a chain.
MISSING_THINGS: dict[str, type[NotFound]] = {
    "schedules": UnknownSchedule,
    "workers": UnknownWorker,
    "api_tokens": UnknownToken,
    "payloads": UnknownPayload,
    "egress_identities": UnknownIdentity,
    "sources": UnknownSource,
}


def error_of_state(
    state: str | None, message: str, *, hint: str | None = None, detail: str | None = None, table: str | None = None
) -> LeaseholdError:
    """The error of ours for what Postgres refused, whatever the driver. Text is never matched, except for our name.

    Args:
        state: the SQLSTATE. message, hint, detail, table: the fields of the same names in the answer of Postgres.
    """
    state = state or "XX000"
    text = message + (f" ({hint})" if hint else "")
    if state == UniqueConflict.sqlstate:
        return UniqueConflict(text, job_id=int(detail) if detail else None)
    if state == NotFound.sqlstate:
        return MISSING_THINGS.get(table or "", UnknownJob)(text)
    if state in OWN_ERRORS:
        return OWN_ERRORS[state](text)
    return _of_postgres(state, text)


def _of_postgres(state: str, text: str) -> LeaseholdError:
    if state == LOCKED:
        return LockTimeout(f"{text} [SQLSTATE {state}]")
    if state in TRANSIENT or state[:2] in TRANSIENT_CLASSES:
        advice = f"; {ADVICE[state]}" if state in ADVICE else ""
        return DatabaseUnavailable(f"{text}{advice} [SQLSTATE {state}]")
    if state[:2] in BAD_INPUT_CLASSES:
        return ValueRefused(f"Postgres refuses a value: {text} [SQLSTATE {state}]", sqlstate=state)
    if state in MISSING and "leasehold" in text:
        return SchemaOutdated(f"{text}; run `leasehold migrate`")
    if state == FORBIDDEN and "leasehold" in text:
        text += "; make this login a member of a role that may: `leasehold grants` lists them"
    return QueryRefused(f"{text} [SQLSTATE {state}]", sqlstate=state)
