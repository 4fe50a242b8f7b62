from __future__ import annotations

import io
import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

import pytest

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.interruption import Interruption
from leasehold.cli.runtime.options import CommonOptions
from leasehold.cli.runtime.services import Services
from leasehold.cli.runtime.terminal import Terminal
from leasehold.cli.up.first_steps import agree_to_migrate
from leasehold.errors import BadInput
from tests.conftest import Psql

FOREIGN = "create table shops (id int); create extension if not exists plpgsql;"


@contextmanager
def asked(database_url: str | None, answer: str | None) -> Generator[tuple[CommandContext, io.StringIO]]:
    """A command whose user will type this; None: nobody is there."""
    reading, writing = os.pipe()
    os.write(writing, (answer or "").encode())
    os.close(writing)
    with os.fdopen(reading) as stdin:
        stdin.isatty = lambda: answer is not None  # type: ignore[method-assign]
        said = io.StringIO()
        environ = {} if database_url is None else {"LEASEHOLD_DATABASE_URL": database_url}
        terminal = Terminal(stdin, io.StringIO(), said, environ)
        yield CommandContext(terminal, CommonOptions(), Services(), ExitStack(), Interruption()), said


async def test_an_embedded_database_is_nobody_elses() -> None:
    with asked(None, None) as (context, said):
        await agree_to_migrate(context, is_agreed=False)
    assert said.getvalue() == ""


async def test_an_empty_database_is_named_and_needs_no_question(empty_database_url: str) -> None:
    with asked(empty_database_url, None) as (context, said):
        await agree_to_migrate(context, is_agreed=False)
    assert said.getvalue() == f"the database is {empty_database_url}\n"


async def test_a_database_with_our_schema_needs_no_question(database_url: str, psql: Psql) -> None:
    psql(database_url, "create table public.shops (id int)")
    with asked(database_url, None) as (context, _said):
        await agree_to_migrate(context, is_agreed=False)
    psql(database_url, "drop table public.shops")


async def test_a_database_of_others_is_not_touched_unless_that_is_meant(empty_database_url: str, psql: Psql) -> None:
    psql(empty_database_url, FOREIGN)
    with (
        asked(empty_database_url, None) as (context, _said),
        pytest.raises(BadInput, match=r"1 table of another program.*--yes"),
    ):
        await agree_to_migrate(context, is_agreed=False)
    with asked(empty_database_url, "n\n") as (context, _said), pytest.raises(BadInput, match="nothing was changed"):
        await agree_to_migrate(context, is_agreed=False)
    with asked(empty_database_url, "y\n") as (context, said):
        await agree_to_migrate(context, is_agreed=False)
    assert "Go on? [y/N]" in said.getvalue()
    with asked(empty_database_url, None) as (context, _said):
        await agree_to_migrate(context, is_agreed=True)


async def test_a_schema_that_would_be_changed_is_asked_for(fresh_database_url: str, psql: Psql) -> None:
    psql(fresh_database_url, "delete from leasehold.schema_repeatables where name = 'clock'")
    with (
        asked(fresh_database_url, None) as (context, _said),
        pytest.raises(BadInput, match=r"from version 1 to 1.*--yes"),
    ):
        await agree_to_migrate(context, is_agreed=False)
