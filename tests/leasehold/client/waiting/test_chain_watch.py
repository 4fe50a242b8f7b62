"""What only a database under control can show; the rest stands with `client.wait`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from leasehold.client import chain_ends as chain_watch
from leasehold.client.chain_ends import ChainEnds, Wait
from leasehold.database import Database
from leasehold.errors import ClientClosed, DatabaseUnavailable, QueryRefused
from tests.support.flavours import in_flavour
from tests.support.waiting import PATIENCE


class Scripted:
    """A database that answers what the test says, when it says so."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[list[int]] = asyncio.Queue()
        self.answers: asyncio.Queue[Any] = asyncio.Queue()
        self.closers: list[Callable[[], Awaitable[None]]] = []
        self.hear: Callable[[str], object] = str
        self.listening = asyncio.Event()
        self.is_closed = False

    async def call(self, function: str, chains: list[int], seconds: float | None) -> list[dict[str, Any]]:
        assert (function, seconds) == ("watch_chains", 60.0)
        self.asked.put_nowait(sorted(chains))
        answer = await self.answers.get()
        if isinstance(answer, Exception):
            raise answer
        return [{"chain_id": chain_id} for chain_id in answer]

    async def open_listening(self, channel: str, hear: Callable[[str], object], lost: Callable[[], object]) -> Any:
        self.hear = hear
        self.listening.set()
        await asyncio.Event().wait()  # it never says that it listens, so only what is heard makes anybody look


Work = Callable[[Scripted, ChainEnds], Awaitable[None]]


def watching(test: Work) -> Callable[[], None]:
    """A test that gets such a database, and a watch on it."""

    async def main() -> None:
        database = Scripted()
        watch = ChainEnds(cast(Database, database))
        async with asyncio.timeout(PATIENCE):
            await test(database, watch)
            await watch.close()
        assert (database.closers, watch._task) == ([], None)  # pyright: ignore[reportPrivateUsage]

    return lambda: in_flavour("asyncio", main)


def begin(watch: ChainEnds, chain_id: int) -> asyncio.Future[Any]:
    """A wait, and what it is told."""
    told: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    watch.add(Wait(chain_id, told.set_result))
    return told


@pytest.fixture(autouse=True)
def no_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_watch, "FIRST_PAUSE", 3600.0)


@watching
async def test_what_is_heard_while_a_statement_runs_is_not_forgotten(database: Scripted, watch: ChainEnds) -> None:
    told = begin(watch, 7)
    await watch.start()
    assert await database.asked.get() == [7]
    await database.listening.wait()
    database.hear("closed:7")
    database.answers.put_nowait([])
    assert await database.asked.get() == [7]
    database.answers.put_nowait([7])
    assert (await told)["chain_id"] == 7


@watching
async def test_only_what_is_due_is_asked_for(database: Scripted, watch: ChainEnds) -> None:
    begin(watch, 1)
    begin(watch, 2)
    await watch.start()
    assert await database.asked.get() == [1, 2]
    database.answers.put_nowait([])
    third = begin(watch, 3)
    assert await database.asked.get() == [3]
    database.answers.put_nowait([3])
    await third
    for nonsense in ("closed:9", "closed:x", "hello", "wake", "closed:2"):
        database.hear(nonsense)
    assert await database.asked.get() == [2]
    database.answers.put_nowait([])


@watching
async def test_a_database_that_goes_away_is_waited_for_except_by_new_waits(
    database: Scripted, watch: ChainEnds
) -> None:
    old = begin(watch, 1)
    await watch.start()
    await database.asked.get()
    database.answers.put_nowait([])
    new = begin(watch, 2)
    await database.asked.get()
    database.hear("closed:1")
    database.answers.put_nowait(DatabaseUnavailable("away"))
    assert isinstance(await new, DatabaseUnavailable)
    assert await database.asked.get() == [1]
    database.answers.put_nowait(DatabaseUnavailable("still away"))
    await asyncio.sleep(0)
    assert not old.done()
    database.hear("closed:1")
    assert await database.asked.get() == [1]
    database.answers.put_nowait([1])
    assert (await old)["chain_id"] == 1


@watching
async def test_a_task_that_is_cancelled_before_it_begins_says_so_and_another_takes_its_place(
    database: Scripted, watch: ChainEnds
) -> None:
    told = begin(watch, 7)
    await watch.start()
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    assert isinstance(await told, DatabaseUnavailable)
    told = begin(watch, 7)
    await watch.start()
    database.answers.put_nowait([7])
    assert (await told)["chain_id"] == 7


@watching
async def test_a_watch_that_is_closed_does_not_begin_again(database: Scripted, watch: ChainEnds) -> None:
    told = begin(watch, 7)
    await watch.start()
    await watch.close()
    assert isinstance(await told, ClientClosed)
    with pytest.raises(ClientClosed):
        begin(watch, 7)
    with pytest.raises(ClientClosed):
        await watch.start()


@watching
async def test_nor_does_one_begin_on_a_database_that_is_closed(database: Scripted, watch: ChainEnds) -> None:
    database.is_closed = True
    with pytest.raises(ClientClosed):
        await watch.start()


@watching
async def test_what_trying_again_does_not_cure_is_told(database: Scripted, watch: ChainEnds) -> None:
    for error in (QueryRefused("no"), ZeroDivisionError()):
        told = begin(watch, 1)
        await watch.start()
        await database.asked.get()
        database.answers.put_nowait(error)
        assert await told is error
