"""Calls on the schema of the release before."""

from __future__ import annotations

from leasehold.database import Database
from leasehold.database.fit import Fit

NEW = {"clock": frozenset({"zone"}), "wake": frozenset({"hint"}), "gone": frozenset({"x"})}


async def test_a_new_parameter_is_left_out_where_the_database_does_not_know_it(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute("create function leasehold.greet(name text) returns text language sql as $$ select name $$")
    database.fit = Fit({"greet": frozenset({"title"})})
    assert await database.call_value("greet", name="Ada", title="Dr") == "Ada"
    async with database.transaction() as transaction:
        transaction.fit = database.fit
        assert await transaction.call_value("greet", name="Ada", title="Dr") == "Ada"


async def test_where_the_database_knows_it_it_is_passed(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute(
        "create function leasehold.greet(name text, title text default '') returns text "
        "language sql as $$ select title || name $$"
    )
    database.fit = Fit({"greet": frozenset({"title"})})
    assert await database.call_value("greet", "Ada", title="Dr ") == "Dr Ada"
    assert await database.fit.lacking(database) == {}


async def test_what_is_lacking_is_asked_once_and_functions_that_are_missing_are_not_in_it(database: Database) -> None:
    fit = Fit(NEW)
    assert await fit.lacking(database) == {"wake": {"hint"}}
    assert not fit.concerns("wake", {"queue": 1})
    assert fit.concerns("wake", {"hint": 1})
    assert await fit.suit(database, "wake", {"queue": 1, "hint": 2}) == {"queue": 1}


async def test_those_who_share_a_pool_share_what_they_know(database: Database) -> None:
    async with database.reserve("own") as reserved, database.transaction() as transaction:
        assert reserved.fit is transaction.fit is database.fit is database.inner.fit
