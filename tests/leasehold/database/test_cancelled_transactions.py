"""Transactions that are cancelled at any moment leave nothing open, and asyncpg has nothing to complain of."""

from __future__ import annotations

import logging

import pytest
import trio

from leasehold.database import Database
from tests.support.waiting import eventually


@pytest.fixture
def complaints(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING)
    return caplog


async def is_nothing_open(database: Database) -> bool:
    rows = await database.fetch(
        "select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null "
        "and backend_type = 'client backend'"
    )
    return not rows


@pytest.mark.parametrize("statement", ["select 1", "select pg_sleep(600)"])
async def test_a_transaction_that_is_cancelled_anywhere_is_undone_in_silence(
    database: Database, complaints: pytest.LogCaptureFixture, statement: str
) -> None:
    for n in range(60):
        await database.fetch("select 1")  # there is a connection to take
        with trio.move_on_after(n * 0.0002):
            async with database.transaction() as transaction:
                await transaction.fetch(statement)
    assert complaints.text == ""
    await eventually(lambda: is_nothing_open(database))
