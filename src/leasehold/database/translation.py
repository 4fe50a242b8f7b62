"""From what asyncpg raises to the one tree of `leasehold.errors`. Decides by SQLSTATE, never by text."""

# asyncpg and trio-asyncio carry no types; what they return is typed where it leaves this module.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportInvalidTypeArguments=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

import asyncpg

from leasehold import errors

OWN_ERRORS: dict[str, type[errors.LeaseholdError]] = {
    "LH001": errors.BadInput,
    "LH003": errors.LeaseLost,
    "LH004": errors.WrongState,
    "LH005": errors.SchemaMismatch,
    "LH007": errors.IdempotencyMismatch,
    "LH008": errors.RowLocked,
    "LH009": errors.EpochOver,
}

# LH002 with the name of a table says what is missing; without, it is a job or a chain.
MISSING_THINGS: dict[str, type[errors.NotFound]] = {
    "schedules": errors.UnknownSchedule,
    "workers": errors.UnknownWorker,
    "api_tokens": errors.UnknownToken,
}

# Connection trouble, shutdown and start-up, too many connections, serialization and deadlock, lock and statement
# timeouts, a server that turned read-only under a failover.
TRANSIENT = frozenset({"57P01", "57P02", "57P03", "57P05", "57014", "53300", "40001", "40P01", "25006"})
TRANSIENT_CLASSES = frozenset({"08", "53"})
BAD_INPUT_CLASSES = frozenset({"22", "54"})
MISUSE = (
    "a connection runs one statement at a time, with as many values as it has parameters; await one after the other, or take"
    " a connection for each"
)
LOCKED = "55P03"
MISSING = frozenset({"3F000", "42P01", "42883"})


def from_postgres(error: Any) -> errors.LeaseholdError:
    """The error of ours that says the same."""
    state: str = error.sqlstate or "XX000"
    hint: str | None = getattr(error, "hint", None)
    text = f"{error.args[0] if error.args else error}" + (f" ({hint})" if hint else "")
    if state == errors.UniqueConflict.sqlstate:
        detail: str | None = getattr(error, "detail", None)
        return errors.UniqueConflict(text, job_id=int(detail) if detail else None)
    if state == errors.NotFound.sqlstate:
        return MISSING_THINGS.get(getattr(error, "table_name", None) or "", errors.UnknownJob)(text)
    if state in OWN_ERRORS:
        return OWN_ERRORS[state](text)
    return _of_postgres(state, text)


def _of_postgres(state: str, text: str) -> errors.LeaseholdError:
    if state == LOCKED:
        return errors.LockTimeout(f"{text} [SQLSTATE {state}]")
    if state in TRANSIENT or state[:2] in TRANSIENT_CLASSES:
        return errors.DatabaseUnavailable(f"{text} [SQLSTATE {state}]")
    if state[:2] in BAD_INPUT_CLASSES:
        return errors.ValueRefused(f"Postgres refuses a value: {text} [SQLSTATE {state}]", sqlstate=state)
    if state in MISSING and "leasehold" in text:
        return errors.SchemaMismatch(f"{text}; run `leasehold migrate`")
    return errors.QueryRefused(f"{text} [SQLSTATE {state}]", sqlstate=state)


@contextmanager
def translated(connection: Any = None) -> Generator[None]:
    """Raise our errors for those of asyncpg, of the socket and of the clock.

    Args:
        connection: which one is used, where only one is: what it refuses while it is open was asked wrongly.
    """
    try:
        yield
    except asyncpg.InvalidCachedStatementError as error:
        # Only inside a transaction, where asyncpg cannot prepare it again: a migration has just changed the answer.
        raise errors.DatabaseUnavailable(f"the schema changed under the transaction: {error}") from error
    except asyncpg.PostgresError as error:
        raise from_postgres(error) from error
    except (asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        if isinstance(error, asyncpg.InterfaceError) and _is_open(connection):
            raise errors.BadInput(f"{MISUSE}: {error}") from error
        raise errors.DatabaseUnavailable(f"the connection cannot be used: {error}") from error
    except OSError as error:
        if isinstance(error, TimeoutError):
            raise errors.DatabaseUnavailable("the database did not answer in time") from error
        raise errors.DatabaseUnavailable(f"the database cannot be reached: {error}") from error


def _is_open(connection: Any) -> bool:
    with suppress(asyncpg.InterfaceError):  # of one that is back in its pool
        return connection is not None and not connection.is_closed()
    return False
