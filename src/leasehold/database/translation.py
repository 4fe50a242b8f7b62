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
from leasehold.errors.sqlstates import error_of_state

MISUSE = (
    "a connection runs one statement at a time, with as many values as it has parameters; await one after the other, or take"
    " a connection for each"
)


def from_postgres(error: Any) -> errors.LeaseholdError:
    """The error of ours that says the same."""
    return error_of_state(
        error.sqlstate,
        str(error.args[0] if error.args else error),
        hint=getattr(error, "hint", None),
        detail=getattr(error, "detail", None),
        table=getattr(error, "table_name", None),
    )


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
