"""Running the statements of a migration, and naming what was refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leasehold.errors import DatabaseUnavailable, LeaseholdError, QueryRefused

if TYPE_CHECKING:
    from leasehold.database import Transaction

LONGEST_STATEMENT = 900.0  # seconds for one statement; another runner may be at it


async def run_named(session: Transaction, title: str, text: str) -> None:
    """Run a script. Raises what Postgres says, with the name of what was tried."""
    try:
        await session.execute(text, timeout=LONGEST_STATEMENT)
    except LeaseholdError as error:
        raise named(title, error) from error


async def attempt(session: Transaction, text: str, *, keep: bool = True) -> LeaseholdError | None:
    """Run a script, and if Postgres refuses, leave the transaction as it was and return the refusal.

    Args:
        keep: False: undo it in any case; it was only tried.
    """
    await session.execute("savepoint attempt")
    try:
        await session.execute(text, timeout=LONGEST_STATEMENT)
    except DatabaseUnavailable:
        raise
    except LeaseholdError as error:
        await session.execute("rollback to savepoint attempt")
        return error
    await session.execute("release savepoint attempt" if keep else "rollback to savepoint attempt")
    return None


def named(title: str, error: LeaseholdError) -> LeaseholdError:
    """The same error, saying what could not be applied."""
    text = f"{title} could not be applied, nothing was changed: {error}"
    if isinstance(error, DatabaseUnavailable):
        return DatabaseUnavailable(text)
    return QueryRefused(text, sqlstate=sqlstate_of(error))


def sqlstate_of(error: BaseException) -> str | None:
    """Of Postgres itself, where the error of ours has none or its own."""
    cause: BaseException | None = error
    while cause is not None:
        if not isinstance(cause, LeaseholdError) and isinstance(state := getattr(cause, "sqlstate", None), str):
            return state
        cause = cause.__cause__
    return error.sqlstate if isinstance(error, LeaseholdError) else None
