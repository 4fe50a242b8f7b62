"""Behind a pooler that keeps notifications away: who listens says so once, and asks again after a pause of its own."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
import trio

from leasehold.database import Database, open_database
from leasehold.database import connector as hearing
from leasehold.notify import asyncio_listener, listener
from leasehold.notify.switchboard import Switchboard
from tests.support.pgbouncer import pgbouncer
from tests.support.waiting import until

HOURS = 10_000.0
SAID = "a pooler before Postgres keeps notifications away"


@pytest.fixture
def pooled_url(fresh_database_url: str, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    monkeypatch.setattr(hearing, "HEARING_SECONDS", 0.05)
    with pgbouncer(fresh_database_url) as dsn:
        yield dsn


def count_attempts(database: Database, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The channels that were listened on, one for each attempt."""
    asked: list[str] = []
    listen = database.open_listening

    async def open_listening(channel: str, *heard: Any) -> Any:
        asked.append(channel)
        return await listen(channel, *heard)

    monkeypatch.setattr(database, "open_listening", open_listening)
    return asked


async def test_a_listener_says_so_once_and_asks_again(
    pooled_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(listener, "DEAF_SECONDS", 0.001)
    async with open_database(pooled_url) as database:
        asked = count_attempts(database, monkeypatch)
        switchboard = Switchboard()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(listener.Listener(database, switchboard).run)
            await until(lambda: len(asked) > 2)
            nursery.cancel_scope.cancel()
        assert not switchboard.listening
    assert caplog.text.count(SAID) == 1


async def test_an_ear_of_a_client_says_so_once_and_asks_again_after_the_same_pause(
    pooled_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(asyncio_listener, "SHORTEST_PAUSE", HOURS)
    monkeypatch.setattr(asyncio_listener, "DEAF_PAUSE", 0.001)
    async with open_database(pooled_url) as database:
        asked = count_attempts(database, monkeypatch)
        listening = asyncio_listener.AsyncioListener(database, lambda _payload: None, lambda: None)

        async def open_it() -> None:
            listening.open()

        await database.in_asyncio(open_it)
        await until(lambda: len(asked) > 2)
        await database.in_asyncio(listening.close)
        assert not listening.listening
    assert caplog.text.count(SAID) == 1
