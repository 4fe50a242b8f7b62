from __future__ import annotations

import logging

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from leasehold.actors.supervise import Outage
from leasehold.database import Caller, Row
from leasehold.errors import DatabaseUnavailable


class Away(Caller):
    """A database that is away for so long."""

    def __init__(self, seconds: float) -> None:
        self._back_at = trio.current_time() + seconds

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        await trio.lowlevel.checkpoint()
        if trio.current_time() < self._back_at:
            raise DatabaseUnavailable("connection refused")
        return []


async def suffer(outage: Outage, seconds: float) -> None:
    """Ten actors that fail five times a second for so long."""
    until = trio.current_time() + seconds
    while trio.current_time() < until:
        for number in range(10):
            outage.lost(f"actor {number}", DatabaseUnavailable("connection refused"))
        await trio.sleep(0.2)


async def said(outage_seconds: float, caplog: pytest.LogCaptureFixture) -> list[str]:
    caplog.set_level(logging.INFO)
    outage = Outage()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(outage.watch, Away(outage_seconds))
        await suffer(outage, outage_seconds)
        await trio.sleep(2)
        nursery.cancel_scope.cancel()
    return [record.message for record in caplog.records]


async def test_an_outage_is_one_line_when_it_begins_and_one_when_it_is_over(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    began, over = await said(45, caplog)
    assert began.startswith("actor 0 lost the database: connection refused; ")
    assert over.startswith("the database answers again, 45.0 s after its loss was noticed (actor 0, actor 1, ")


async def test_a_long_outage_is_called_to_mind_once_a_minute(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    _began, first, second, over = await said(150, caplog)
    assert first.startswith("the database has been away for at least 60 s (actor 0, ")
    assert second.startswith("the database has been away for at least 120 s (actor 0, ")
    assert over.startswith("the database answers again, 150.0 s after")


async def test_an_actor_that_fails_every_ten_seconds_beside_a_well_database_says_so_once_a_minute(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    outage = Outage()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(outage.watch, Away(0))
        for _ in range(18):
            outage.lost("reaper", DatabaseUnavailable("statement timeout"))
            await wait_all_tasks_blocked()
            await trio.sleep(10)
        nursery.cancel_scope.cancel()
    lines = [record.message.split(";")[0].split(" (")[0] for record in caplog.records]
    assert lines == 3 * [
        "reaper lost the database: statement timeout",
        "the database answers again, 0.0 s after its loss was noticed",
    ]
