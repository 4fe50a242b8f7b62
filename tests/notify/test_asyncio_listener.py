from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from leasehold.database import Database, open_asyncio_database
from leasehold.errors import DatabaseUnavailable
from leasehold.notify import asyncio_listener as ears
from leasehold.notify.asyncio_listener import AsyncioListener
from tests.support.flavours import under_asyncio
from tests.support.waiting import PATIENCE


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ears, "SHORTEST_PAUSE", 0.01)


@under_asyncio
async def test_it_says_when_it_listens_hears_and_listens_anew_after_a_loss(database_url: str) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    missed: asyncio.Queue[None] = asyncio.Queue()
    async with asyncio.timeout(PATIENCE), open_asyncio_database(database_url) as database:
        ear = AsyncioListener(database, heard.put_nowait, lambda: missed.put_nowait(None))
        ear.open()
        ear.open()
        await missed.get()
        await database.fetch("select pg_notify('leasehold', 'closed:1')")
        assert await heard.get() == "closed:1"
        await database.fetch(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and application_name = 'leasehold listener'"
        )
        await missed.get()
        await missed.get()
        await database.fetch("select pg_notify('leasehold', 'closed:2')")
        assert await heard.get() == "closed:2"
        await ear.close()
        await ear.close()
        assert missed.empty()


class Absent:
    """A database that nobody can connect to, as often as one tries."""

    def __init__(self) -> None:
        self.tried: asyncio.Queue[None] = asyncio.Queue()

    async def open_listening(self, *_: object) -> object:
        self.tried.put_nowait(None)
        raise DatabaseUnavailable


@under_asyncio
async def test_it_goes_on_trying_where_nobody_answers() -> None:
    absent = Absent()
    ear = AsyncioListener(cast(Database, absent), str, bool)
    ear.open()
    async with asyncio.timeout(PATIENCE):
        for _ in range(3):
            await absent.tried.get()
    await ear.close()


@under_asyncio
async def test_it_says_once_that_it_polls_because_of_a_wrong_direct_address(
    database_url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: asyncio.Queue[None] = asyncio.Queue()
    wrong = f"{database_url}{'&' if '?' in database_url else '?'}nosuch=1"
    async with asyncio.timeout(PATIENCE), open_asyncio_database(database_url, direct_dsn=wrong) as database:
        listen = database.open_listening

        async def open_listening(*heard: Any) -> Any:
            tried.put_nowait(None)
            return await listen(*heard)

        monkeypatch.setattr(database, "open_listening", open_listening)
        first, second = (AsyncioListener(database, str, bool) for _ in range(2))
        first.open()
        second.open()
        for _ in range(5):
            await tried.get()
        await first.close()
        await second.close()
    [line] = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert "LEASEHOLD_DIRECT_DATABASE_URL" in line
    assert "nosuch" in line
