from __future__ import annotations

import pytest
import trio

from leasehold.actors.supervise import supervise
from leasehold.actors.upkeep import janitor as accountant_module
from leasehold.actors.upkeep.janitor import Accountant
from leasehold.database import Caller, Database, Row
from leasehold.errors import QueryRefused
from tests.support.callers import FragileCaller
from tests.support.sql_books import finish, totals
from tests.support.waiting import until

LONG_AGO = "select (leasehold.clock() - interval '1 hour')::text"


async def test_a_round_closes_minutes_counts_and_merges(database: Database) -> None:
    (row,) = await database.fetch(LONG_AGO)
    await finish(database, row[0], 3)
    connection = FragileCaller(database)
    accountant = Accountant(connection, keep_days=14)
    await accountant.keep()
    await accountant.keep()
    assert connection.calls == [
        "close_minutes",
        "measure_depths",
        "drop_old_rollups",
        "measure_finished",
        "close_minutes",
        "measure_depths",
        "measure_finished",
    ]
    assert (await totals(database))["completed"] == 3


async def test_of_two_accountants_one_does_it_and_nothing_is_counted_twice(database: Database) -> None:
    (row,) = await database.fetch(LONG_AGO)
    await finish(database, row[0], 3)
    accountants = [Accountant(database, keep_days=14) for _ in range(4)]
    async with trio.open_nursery() as nursery:
        for each in accountants:
            nursery.start_soon(each.keep)
    assert (await totals(database))["completed"] == 3


async def test_a_round_that_lost_the_database_is_made_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accountant_module, "BOOKS_SECONDS", 60.0)
    (row,) = await database.fetch(LONG_AGO)
    await finish(database, row[0], 3)
    connection = FragileCaller(database)
    connection.lose_reply = {"close_minutes"}
    accountant = Accountant(connection, keep_days=14)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, accountant)
        await until(lambda: connection.calls.count("measure_depths") == 1)
        accountant.drain()
    assert connection.calls.count("close_minutes") == 2
    assert (await totals(database))["completed"] == 3


class Refusing(Caller):
    """A database that has no books."""

    def __init__(self) -> None:
        self.asked = 0

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        self.asked += 1
        raise QueryRefused("permission denied")


async def test_what_goes_wrong_with_the_books_ends_nobody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(accountant_module, "BOOKS_SECONDS", 0.001)
    connection = Refusing()
    accountant = Accountant(connection, keep_days=14)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, accountant)
        await until(lambda: connection.asked >= 2)
        accountant.drain()
    assert "the books could not be kept, again in 0 s: permission denied" in caplog.text
