"""Everything leasehold raises, in one tree.

    LeaseholdError
    ├── BadInput                  refused at the border; nothing was written
    │   ├── InvalidArgs           args do not fit the kind, or are no JSON that Postgres can keep
    │   ├── UnknownKind           no handler is registered for the kind
    │   ├── DuplicateKind         two handlers for one kind
    │   └── SettingsError         a setting is unknown or out of range
    ├── NotFound
    │   └── UnknownJob            no job has this id
    ├── Conflict                  the state of the thing forbids it
    │   └── WrongState            e.g. cancelling a finished job
    ├── LeaseLost                 this attempt does not hold the job any more
    ├── DatabaseError
    │   ├── DatabaseUnavailable   connection refused, lost, timed out: try again
    │   └── QueryRefused          Postgres refused the statement; carries the SQLSTATE
    ├── SchemaMismatch            the database's schema is missing, older or newer than this code
    └── ActorFailed               an actor failed for a reason that a restart does not cure

The docstring of each class is its default message.
"""

from __future__ import annotations

import inspect


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


class SettingsError(BadInput):
    """A setting is unknown or out of range."""


class NotFound(LeaseholdError):
    """There is no such thing."""

    sqlstate = "LH002"


class UnknownJob(NotFound):
    """No job has this id."""


class LeaseLost(LeaseholdError):
    """This attempt does not hold the job any more; whatever it writes is refused."""

    sqlstate = "LH003"


class Conflict(LeaseholdError):
    """The present state forbids it."""


class WrongState(Conflict):
    """The job's state does not allow this."""

    sqlstate = "LH004"


class DatabaseError(LeaseholdError):
    """The database did not do what it was asked."""


class DatabaseUnavailable(DatabaseError):
    """The database cannot be reached right now; try again."""


class QueryRefused(DatabaseError):
    """Postgres refused the statement."""

    def __init__(self, message: str | None = None, *, sqlstate: str | None = None) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate


class SchemaMismatch(LeaseholdError):
    """The schema in the database does not fit this version of leasehold; run `leasehold migrate`."""

    sqlstate = "LH005"


class ActorFailed(LeaseholdError):
    """An actor failed for a reason that a restart does not cure."""
