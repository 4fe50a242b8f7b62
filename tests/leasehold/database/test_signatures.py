"""What the last release could call can still be called."""

from __future__ import annotations

import pytest

from leasehold.access.roles import internal_functions
from leasehold.database import Database
from leasehold.database.migrations import expected_version
from leasehold.database.migrations.state import list_signatures
from leasehold.database.signatures import CURRENT, HEAD, RELEASED, Fit, added_parameters, released_schema
from leasehold.sql import read_text
from tests.support.signatures import Signature, broken_calls, parse

FORMER = "claim(worker uuid, batch integer, lease interval =) -> setof (job_id bigint, attempt integer)"
SCALAR = "renew(worker uuid) -> boolean"


def test_everything_that_the_last_release_calls_is_still_there() -> None:
    broken = broken_calls(parse(read_text(RELEASED)), parse(read_text(CURRENT)))
    assert broken == [], (
        "programs of the last release go on working on this schema: give new parameters defaults and put them last, or keep the "
        "former signature in sql/former/ (CONTRIBUTING.md says how)"
    )


async def test_the_list_is_that_of_the_database_as_it_is_migrated(database: Database) -> None:
    assert await list_signatures(database, internal_functions()) == read_text(CURRENT), (
        "python tools/schema_description.py"
    )


def test_as_long_as_nothing_is_released_the_present_state_counts_as_the_last_release() -> None:
    head = HEAD.match(read_text(RELEASED))
    assert head is not None
    assert 1 <= released_schema() <= expected_version()
    if head["name"] == "none":
        assert read_text(RELEASED).removeprefix(head[0]) == read_text(CURRENT), "python tools/schema_description.py"


@pytest.mark.parametrize(
    "current",
    [
        FORMER,
        FORMER.replace("lease interval =", "lease interval =, hint text ="),
        FORMER.replace("attempt integer)", "attempt integer, hint text)"),
        FORMER.replace("batch integer,", "batch integer =,"),
    ],
)
def test_defaults_new_last_parameters_and_new_last_columns_break_nothing(current: str) -> None:
    assert broken_calls(parse(FORMER), parse(current)) == []


@pytest.mark.parametrize(
    ("current", "reason"),
    [
        ("other() -> boolean", "it is gone"),
        (FORMER.replace("batch", "size"), "parameter 2 was batch integer and is size integer"),
        (FORMER.replace("batch integer", "batch bigint"), "parameter 2 was batch integer and is batch bigint"),
        (FORMER.replace(", lease interval =", ""), "parameter lease is gone"),
        (FORMER.replace("lease interval =", "lease interval"), "parameter lease has no default"),
        (FORMER.replace("lease interval =", "lease interval, hint text"), "parameter lease has no default"),
        (FORMER.replace("lease interval =", "hint text, lease interval ="), "parameter 3 was lease interval and is hint text"),
        (FORMER.replace("setof ", ""), "it answers with one value now"),
        (FORMER.replace("(job_id bigint, ", "("), "the first columns of its answer are not the former ones"),
        (FORMER.replace("attempt integer)", "attempt bigint)"), "the first columns of its answer are not the former ones"),
    ],
)  # fmt: skip
def test_everything_else_is_refused_with_the_reason(current: str, reason: str) -> None:
    assert broken_calls(parse(FORMER), parse(current)) == [f"claim: {reason}"]


def test_a_new_required_parameter_is_refused_unless_a_former_signature_is_kept() -> None:
    current = SCALAR.replace("worker uuid", "worker uuid, epoch bigint")
    assert broken_calls(parse(SCALAR), parse(current)) == ["renew: parameter epoch has no default"]
    assert broken_calls(parse(SCALAR), parse(f"{current}\n{SCALAR}\n")) == []


def test_what_is_new_in_a_function_is_known_by_name() -> None:
    current = FORMER.replace("lease interval =", "lease interval =, hint text =") + "\nbrand_new(a integer) -> void"
    assert added_parameters(FORMER, current) == {"claim": frozenset({"hint"})}


@pytest.mark.parametrize("line", ["", "claim", "claim()", "claim() ->"])
def test_a_line_that_is_no_signature_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="no signature"):
        Signature.parse(line)


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
    assert await database.fit.lacking(database.fetch) == {}


async def test_what_is_lacking_is_asked_once_and_functions_that_are_missing_are_not_in_it(database: Database) -> None:
    fit = Fit(NEW)
    assert await fit.lacking(database.fetch) == {"wake": {"hint"}}
    assert not fit.concerns("wake", {"queue": 1})
    assert fit.concerns("wake", {"hint": 1})
    assert await fit.suit(database.fetch, "wake", {"queue": 1, "hint": 2}) == {"queue": 1}


async def test_those_who_share_a_pool_share_what_they_know(database: Database) -> None:
    async with database.reserve("own") as reserved, database.transaction() as transaction:
        assert reserved.fit is transaction.fit is database.fit is database.fit
