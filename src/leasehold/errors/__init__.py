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
│   │   ├── LockTimeout       somebody else held a lock for too long
│   │   └── ListenerDeaf      a pooler keeps notifications from us
│   ├── TransactionEnded      SQL of the caller's ended a transaction that leasehold commits
│   └── QueryRefused          Postgres refused the statement; carries the SQLSTATE; ValueRefused, a BadInput too: for a value in it
├── PayloadError              the content of a payload cannot be written or read
│   ├── PayloadMissing        the store does not have it any more; PayloadDamaged: it is not what was saved
│   └── StoreUnavailable      the disk is full, the bucket is gone, the store does not answer
├── SchemaMismatch            the database's schema is missing, older or newer than this code
└── ActorFailed               an actor failed for a reason that a restart does not cure
"""

from __future__ import annotations

from leasehold.errors.failures import (
    ActorFailed as ActorFailed,
)
from leasehold.errors.failures import (
    ChainCancelled as ChainCancelled,
)
from leasehold.errors.failures import (
    ChainEnded as ChainEnded,
)
from leasehold.errors.failures import (
    ChainFailed as ChainFailed,
)
from leasehold.errors.failures import (
    DatabaseError as DatabaseError,
)
from leasehold.errors.failures import (
    DatabaseUnavailable as DatabaseUnavailable,
)
from leasehold.errors.failures import (
    EpochOver as EpochOver,
)
from leasehold.errors.failures import (
    HandlerFailed as HandlerFailed,
)
from leasehold.errors.failures import (
    LeaseLost as LeaseLost,
)
from leasehold.errors.failures import (
    ListenerDeaf as ListenerDeaf,
)
from leasehold.errors.failures import (
    LockTimeout as LockTimeout,
)
from leasehold.errors.failures import (
    MemoryLimitExceeded as MemoryLimitExceeded,
)
from leasehold.errors.failures import (
    PayloadDamaged as PayloadDamaged,
)
from leasehold.errors.failures import (
    PayloadError as PayloadError,
)
from leasehold.errors.failures import (
    PayloadMissing as PayloadMissing,
)
from leasehold.errors.failures import (
    ProcessCrashed as ProcessCrashed,
)
from leasehold.errors.failures import (
    QueryRefused as QueryRefused,
)
from leasehold.errors.failures import (
    SchemaMismatch as SchemaMismatch,
)
from leasehold.errors.failures import (
    StoreUnavailable as StoreUnavailable,
)
from leasehold.errors.failures import (
    TransactionEnded as TransactionEnded,
)
from leasehold.errors.failures import (
    ValueRefused as ValueRefused,
)
from leasehold.errors.failures import (
    WaitTimeout as WaitTimeout,
)
from leasehold.errors.refusals import (
    BadInput as BadInput,
)
from leasehold.errors.refusals import (
    ClientClosed as ClientClosed,
)
from leasehold.errors.refusals import (
    ClientNotOpen as ClientNotOpen,
)
from leasehold.errors.refusals import (
    Conflict as Conflict,
)
from leasehold.errors.refusals import (
    DuplicateKind as DuplicateKind,
)
from leasehold.errors.refusals import (
    DuplicateSchedule as DuplicateSchedule,
)
from leasehold.errors.refusals import (
    IdempotencyMismatch as IdempotencyMismatch,
)
from leasehold.errors.refusals import (
    InvalidArgs as InvalidArgs,
)
from leasehold.errors.refusals import (
    LeaseholdError as LeaseholdError,
)
from leasehold.errors.refusals import (
    NoIdentities as NoIdentities,
)
from leasehold.errors.refusals import (
    NoPayloadStore as NoPayloadStore,
)
from leasehold.errors.refusals import (
    NotFound as NotFound,
)
from leasehold.errors.refusals import (
    NoTransaction as NoTransaction,
)
from leasehold.errors.refusals import (
    PayloadTooLarge as PayloadTooLarge,
)
from leasehold.errors.refusals import (
    RowLocked as RowLocked,
)
from leasehold.errors.refusals import (
    SettingsError as SettingsError,
)
from leasehold.errors.refusals import (
    UniqueConflict as UniqueConflict,
)
from leasehold.errors.refusals import (
    UnknownCommand as UnknownCommand,
)
from leasehold.errors.refusals import (
    UnknownIdentity as UnknownIdentity,
)
from leasehold.errors.refusals import (
    UnknownJob as UnknownJob,
)
from leasehold.errors.refusals import (
    UnknownKind as UnknownKind,
)
from leasehold.errors.refusals import (
    UnknownPayload as UnknownPayload,
)
from leasehold.errors.refusals import (
    UnknownSchedule as UnknownSchedule,
)
from leasehold.errors.refusals import (
    UnknownSource as UnknownSource,
)
from leasehold.errors.refusals import (
    UnknownToken as UnknownToken,
)
from leasehold.errors.refusals import (
    UnknownWorker as UnknownWorker,
)
from leasehold.errors.refusals import (
    WrongFlavour as WrongFlavour,
)
from leasehold.errors.refusals import (
    WrongState as WrongState,
)
from leasehold.errors.refusals import (
    tell as tell,
)
from leasehold.errors.refusals import (
    told_of as told_of,
)
