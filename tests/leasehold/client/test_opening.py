"""What `open_client` finds by itself, and what it tells who uses it in another way than with `async with`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
import trio

from leasehold import App, Client, connect, open_client
from leasehold.concurrency.flavours import running_flavour
from leasehold.database import Database
from leasehold.database.embedded import embedded_postgres
from leasehold.database.migrations import migrate
from leasehold.errors import BadInput, ClientClosed, ClientNotOpen, DatabaseUnavailable, SettingsError
from leasehold.sync import Client as SyncClient
from tests.support.flavours import in_flavour
from tests.support.waiting import eventually

FLAVOURS = ["trio", "asyncio"]
ASKS: dict[str, Callable[[Client], Awaitable[object]]] = {
    "enqueue": lambda client: client.enqueue("echo"),
    "get": lambda client: client.get(1),
    "wait": lambda client: client.wait(1, timeout=5),
    "queues": lambda client: client.queues.list(),
    "transaction": lambda client: client.transaction().__aenter__(),
}


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_client_that_is_used_after_its_block_says_that_it_is_closed(flavour: str, database_url: str) -> None:
    async def use() -> None:
        async with open_client(database_url) as client:
            await client.enqueue("echo")
        for ask in ASKS.values():
            with pytest.raises(ClientClosed, match="its `async with` block has ended") as refused:
                await ask(client)
            assert not isinstance(refused.value, DatabaseUnavailable)

    in_flavour(flavour, use)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_client_is_opened_and_closed_without_a_block_and_by_another_task(flavour: str, database_url: str) -> None:
    async def use() -> None:
        client = await connect(database_url)
        await client.enqueue("echo")
        await in_a_task(client.close)
        await client.close()
        with pytest.raises(ClientClosed, match="or `close` was called"):
            await client.enqueue("echo")

    in_flavour(flavour, use)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_client_of_connect_is_closed_by_its_block_or_within_it_and_what_the_block_raises_comes_out(
    flavour: str, database_url: str
) -> None:
    opened: list[Client] = []

    async def use() -> None:
        async with connect(database_url) as client:
            await client.enqueue("echo")
            await in_a_task(client.close)
        with pytest.raises(ZeroDivisionError):
            await fail_in_a_block()
        with pytest.raises(ClientClosed):
            await opened[0].ping()

    async def fail_in_a_block() -> None:
        async with connect(database_url) as client:
            await client.ping()
            opened.append(client)
            raise ZeroDivisionError

    in_flavour(flavour, use)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_what_connect_returns_has_advice_for_who_forgets_to_await_it_and_may_be_used_again(
    flavour: str, database_url: str
) -> None:
    async def use() -> None:
        connecting = connect(database_url)
        with pytest.raises(ClientNotOpen, match=r"client = await connect\(…\)`, and call client.enqueue then"):
            connecting.enqueue  # type: ignore[attr-defined]  # noqa: B018
        with pytest.raises(AttributeError, match="'Connecting' object has no attribute 'enqeue'"):
            connecting.enqeue  # type: ignore[attr-defined]  # noqa: B018
        client = await connecting
        async with connecting as other:
            await other.ping()
            with pytest.raises(BadInput, match="call connect\\(\\) for each"):
                await connecting.__aenter__()
        await client.ping()
        await client.close()

    in_flavour(flavour, use)


async def test_a_client_that_is_closed_leaves_no_statement_behind(database: Database, database_url: str) -> None:
    """It would commit later, when nobody waits for it any more."""
    waits = "select pid from pg_locks where relation = 'leasehold.jobs'::regclass and not granted"
    async with database.transaction() as holding:
        await holding.execute("lock table leasehold.jobs in access exclusive mode")
        client = await connect(database_url)

        async def enqueue() -> None:
            with pytest.raises(DatabaseUnavailable):
                await client.enqueue("echo")

        async def is_gone() -> bool:
            return await holding.fetch(waits) == []

        async with trio.open_nursery() as nursery:
            nursery.start_soon(enqueue)
            await eventually(lambda: holding.fetch(waits))
            await client.close()
        await eventually(is_gone)
    assert await database.call("list_jobs") == []


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_block_of_connect_that_is_cancelled_closes_its_client(flavour: str, database_url: str) -> None:
    opened: list[Client] = []

    async def hold(cancel: Callable[[], object]) -> None:
        async with connect(database_url) as client:
            opened.append(client)
            cancel()
            await client.ping()

    async def use() -> None:
        if running_flavour() == "trio":
            with trio.CancelScope() as scope:
                await hold(scope.cancel)
        else:
            task = asyncio.create_task(hold(lambda: task.cancel()))  # noqa: PLW0108  there is no task yet
            await asyncio.wait([task])
        with pytest.raises(ClientClosed):
            await opened[0].ping()

    in_flavour(flavour, use)


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("opening", [open_client, connect])
def test_how_long_a_statement_may_take_is_said_by_the_argument_or_where_the_settings_say_which_database(
    flavour: str, opening: Callable[..., Any], database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEASEHOLD_DATABASE_URL", database_url)
    monkeypatch.setenv("LEASEHOLD_STATEMENT_SECONDS", "12.5")

    async def use() -> None:
        for named, timeout, seconds in ((), None, 12.5), ((), 40, 40.0), ((database_url,), None, 30.0):
            async with opening(*named, timeout=timeout) as client:
                database, _ = client.__lends__
                assert database.timeout == seconds

    in_flavour(flavour, use)
    for wrong in (0, -1, float("nan"), "30"):
        with pytest.raises(BadInput, match="timeout must be"):
            opening(database_url, timeout=wrong)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_client_without_a_block_outlives_the_block_that_it_was_opened_in(flavour: str, database_url: str) -> None:
    async def use() -> None:
        async with open_client(database_url) as outer:
            client = await connect(database_url)
            await outer.ping()
            await client.ping()
        await client.ping()
        await client.close()

    in_flavour(flavour, use)


async def in_a_task(function: Callable[[], Awaitable[None]]) -> None:
    """Call it in another task than this one."""
    if running_flavour() == "trio":
        async with trio.open_nursery() as nursery:
            nursery.start_soon(function)
    else:
        await asyncio.ensure_future(function())


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_what_cannot_be_opened_is_said_where_it_was_to_be(flavour: str, folder: Path) -> None:
    async def use() -> None:
        with pytest.raises(SettingsError, match="no database: none is configured"):
            await connect()

    in_flavour(flavour, use)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_an_app_that_is_none_is_refused_with_advice(flavour: str, database_url: str) -> None:
    async def use() -> None:
        async with open_client(database_url, app=cast("App", "shop:app")):
            raise AssertionError("it was opened")

    with pytest.raises(BadInput, match=r"app must be a leasehold.App, not 'shop:app'; import it"):
        in_flavour(flavour, use)
    with pytest.raises(BadInput, match=r"app must be a leasehold.App"):
        SyncClient(database_url, app=cast("App", sys))


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_the_client_of_a_block_is_closed_by_the_block_alone(flavour: str, database_url: str) -> None:
    async def use() -> None:
        async with open_client(database_url) as client:
            with pytest.raises(BadInput, match="the end of its `async with` block closes this client"):
                await client.close()
            await client.ping()

    in_flavour(flavour, use)


def test_a_client_without_async_with_says_how_to_open_one() -> None:
    opening = cast("Any", open_client("postgresql://nobody@127.0.0.1:1/none"))
    with pytest.raises(
        ClientNotOpen, match=r"write `async with open_client\(…\) as client:` and call client.enqueue inside"
    ):
        opening.enqueue("echo")
    with pytest.raises(AttributeError, match="no attribute 'enqeue'"):
        opening.enqeue("echo")


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_awaiting_open_client_says_how_to_open_one(flavour: str) -> None:
    async def use() -> None:
        with pytest.raises(ClientNotOpen, match="is not awaited"):
            await cast("Any", open_client("postgresql://nobody@127.0.0.1:1/none"))

    in_flavour(flavour, use)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_where_there_is_no_database_it_says_how_to_get_one_and_makes_none(flavour: str, folder: Path) -> None:
    async def use() -> None:
        advice = "start one with `leasehold up`, or name yours: open_client"
        with pytest.raises(SettingsError, match=f"there is no embedded one in {folder}/.leasehold/postgres; {advice}"):
            async with open_client():
                pass

    in_flavour(flavour, use)
    assert list(folder.iterdir()) == []


def test_without_a_dsn_it_finds_the_embedded_database_running_or_not(folder: Path) -> None:
    async def use() -> None:
        async with open_client() as client:
            assert (await client.get(await client.enqueue("echo"))).kind == "echo"

    with embedded_postgres(sync=False) as server:
        trio.run(migrate, server.dsn)
        in_flavour("trio", use)
        assert server.is_running()
    assert not server.is_running()
    in_flavour("asyncio", use)
    assert not server.is_running()


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_database_that_does_not_exist_is_told_with_advice(flavour: str, database_url: str) -> None:
    elsewhere = urlsplit(database_url)._replace(path="/nowhere").geturl()

    async def use() -> None:
        async with open_client(elsewhere) as client:
            with pytest.raises(
                DatabaseUnavailable, match="does not exist; make it with `createdb`, or name another database"
            ):
                await client.get(1)

    in_flavour(flavour, use)
