"""What failed: leases, chains, handlers, the database, stores, actors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leasehold.errors.refusals import BadInput, LeaseholdError

if TYPE_CHECKING:
    from leasehold.records.chains import ChainRecord


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
    """The schema in the database does not fit this version of leasehold; run `leasehold migrate`."""

    sqlstate = "LH005"


class ActorFailed(LeaseholdError):
    """An actor failed for a reason that a restart does not cure."""
