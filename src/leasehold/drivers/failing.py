"""From what a driver raises to the errors of ours, by SQLSTATE. What has none is the library's own word and passes as it is."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from leasehold.errors import DatabaseUnavailable, LeaseholdError, error_of_state

CONNECTION_LOST = frozenset({"OperationalError", "InterfaceError"})
"""What DB-API calls an error of the connection; it has no SQLSTATE when the server did not say it."""


@contextmanager
def told() -> Generator[None]:
    """Raise our errors for those that Postgres or the way to it has raised in the block, whatever library brought them."""
    try:
        yield
    except LeaseholdError:
        raise
    except Exception as error:
        ours = error_of_driver(error)
        if ours is None:
            raise
        raise ours from error


def error_of_driver(error: Exception) -> LeaseholdError | None:
    """The error of ours that says the same; None where neither Postgres nor the connection is to blame."""
    for each in _wrapped(error):
        state = getattr(each, "sqlstate", None) or getattr(each, "pgcode", None)
        if isinstance(state, str):
            return _of_answer(each, state)
    innermost = [*_wrapped(error)][-1]
    names = {each.__name__ for each in type(innermost).__mro__}
    if isinstance(innermost, OSError) or not names.isdisjoint(CONNECTION_LOST):
        return DatabaseUnavailable(f"the connection cannot be used: {innermost}")
    return None


def _wrapped(error: BaseException) -> Iterator[BaseException]:
    """The error and what lies in it: SQLAlchemy keeps that of the driver as `orig`, Django as its cause."""
    seen: set[int] = set()
    inner: BaseException | None = error
    while inner is not None and id(inner) not in seen:
        seen.add(id(inner))
        yield inner
        inner = getattr(inner, "orig", None) or inner.__cause__


def _of_answer(error: BaseException, state: str) -> LeaseholdError:
    """From the fields of the answer: psycopg has them in `diag`; asyncpg on the error, which SQLAlchemy keeps as the cause."""
    source: Any = next(
        (each for each in _wrapped(error) if hasattr(each, "detail") and hasattr(each, "table_name")), error
    )
    diag: Any = getattr(error, "diag", None)
    if diag is not None:
        return error_of_state(
            state,
            diag.message_primary or str(error),
            hint=diag.message_hint,
            detail=diag.message_detail,
            table=diag.table_name,
        )
    return error_of_state(
        state,
        str(source.args[0] if source.args else source),
        hint=getattr(source, "hint", None),
        detail=getattr(source, "detail", None),
        table=getattr(source, "table_name", None),
    )
