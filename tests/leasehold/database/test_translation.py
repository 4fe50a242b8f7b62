from __future__ import annotations

import asyncpg
import pytest

from leasehold import errors
from leasehold.database.connector import from_postgres, translated


class Said:
    """What asyncpg knows of an error of Postgres."""

    hint = None

    def __init__(self, sqlstate: str | None, text: str = "text of Postgres") -> None:
        self.sqlstate = sqlstate
        self.args = (text,)


@pytest.mark.parametrize(
    ("sqlstate", "error"),
    [
        ("LH001", errors.BadInput),
        ("LH002", errors.UnknownJob),
        ("LH003", errors.LeaseLost),
        ("LH004", errors.WrongState),
        ("LH005", errors.SchemaMismatch),
        ("LH010", errors.WrongAddress),
        *((state, errors.DatabaseUnavailable) for state in
          ("28P01", "28000", "3D000",
           "08006", "08007", "57P01", "57P02", "57P03", "57014", "53300", "53100", "40001", "40P01", "25006")),
        ("55P03", errors.LockTimeout),
        ("22P05", errors.ValueRefused),
        ("54000", errors.ValueRefused),
        ("42501", errors.QueryRefused),
        ("23505", errors.QueryRefused),
        (None, errors.QueryRefused),
    ],
)  # fmt: skip
def test_the_sqlstate_decides(sqlstate: str | None, error: type[errors.LeaseholdError]) -> None:
    made = from_postgres(Said(sqlstate))
    assert type(made) is error
    assert "text of Postgres" in str(made)


def test_a_missing_function_of_ours_is_a_schema_mismatch_and_one_of_others_is_not() -> None:
    ours = from_postgres(Said("42883", "function leasehold.claim_jobs() does not exist"))
    assert isinstance(ours, errors.SchemaMismatch)
    assert isinstance(from_postgres(Said("42883", "function theirs() does not exist")), errors.QueryRefused)


def test_a_login_without_rights_on_our_schema_hears_how_it_gets_them() -> None:
    assert "leasehold grants" in str(from_postgres(Said("42501", "permission denied for schema leasehold")))
    assert "leasehold grants" not in str(from_postgres(Said("42501", "permission denied for table orders")))


@pytest.mark.parametrize(
    ("raised", "error", "text"),
    [
        (TimeoutError(), errors.DatabaseUnavailable, "in time"),
        (ConnectionRefusedError("refused"), errors.DatabaseUnavailable, "refused"),
        (OSError("no route"), errors.DatabaseUnavailable, "no route"),
        (asyncpg.InterfaceError("connection is closed"), errors.DatabaseUnavailable, "connection is closed"),
        (asyncpg.InternalClientError("out of step"), errors.DatabaseUnavailable, "out of step"),
        (asyncpg.DataError("an int is wanted"), errors.BadInput, "an int is wanted"),
    ],
)
def test_trouble_with_the_connection_is_told_from_trouble_with_a_value(
    raised: Exception, error: type[errors.LeaseholdError], text: str
) -> None:
    with pytest.raises(error, match=text) as caught, translated():
        raise raised
    assert caught.value.__cause__ is raised


@pytest.mark.parametrize(("is_closed", "error"), [(False, errors.BadInput), (True, errors.DatabaseUnavailable)])
def test_what_an_open_connection_refuses_was_asked_wrongly(
    *, is_closed: bool, error: type[errors.LeaseholdError]
) -> None:
    class Connection:
        def is_closed(self) -> bool:
            return is_closed

    with pytest.raises(error, match="in progress") as caught, translated(Connection()):
        raise asyncpg.InterfaceError("another operation is in progress")
    assert type(caught.value) is error


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), translated():
        _ = 1 / 0


def test_a_value_that_postgres_refuses_is_bad_input_and_an_error_of_the_database() -> None:
    """Whoever runs SQL of their own looks for the latter."""
    made = from_postgres(Said("22012", "division by zero"))
    assert isinstance(made, errors.BadInput)
    assert isinstance(made, errors.DatabaseError)
    assert made.sqlstate == "22012"
