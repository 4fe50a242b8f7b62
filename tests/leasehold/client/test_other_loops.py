"""A client belongs to the event loop that has opened it: calls from any other one are refused before anything is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import trio

from leasehold import Client, connect, open_client
from leasehold.concurrency.flavours import in_thread
from leasehold.errors import BadInput, ClientClosed
from tests.support.flavours import in_flavour

FLAVOURS = ["trio", "asyncio"]
REFUSAL = "the client was opened in another event loop than the one that runs now, and nothing was asked"
ASKS: dict[str, Callable[[Client], Awaitable[object]]] = {
    "enqueue": lambda client: client.enqueue("echo"),
    "get": lambda client: client.get(1),
    "wait": lambda client: client.wait(1, timeout=5),
    "look": lambda client: client.wait(1, timeout=0),
    "queues": lambda client: client.queues.list(),
    "transaction": lambda client: client.transaction().__aenter__(),
}


def refused_elsewhere(flavour: str, ask: Callable[[], Awaitable[object]]) -> None:
    async def main() -> None:
        with pytest.raises(BadInput, match=REFUSAL):
            await ask()

    in_flavour(flavour, main)


@pytest.mark.parametrize("elsewhere", FLAVOURS)
@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("is_in_use", [True, False])
def test_a_client_is_refused_in_the_event_loop_of_another_thread_and_goes_on_in_its_own(
    flavour: str, elsewhere: str, is_in_use: bool, database_url: str
) -> None:
    async def use() -> None:
        async with open_client(database_url) as client:
            before = [await client.enqueue("echo")] if is_in_use else []
            for ask in ASKS.values():
                await in_thread(refused_elsewhere, elsewhere, partial(ask, client))
            after = await client.enqueue("echo")
            assert sorted(each.chain_id for each in await client.chains.list()) == [*before, after]

    in_flavour(flavour, use)


@pytest.mark.parametrize("elsewhere", FLAVOURS)
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_while_a_wait_goes_on_one_from_another_event_loop_is_refused(
    flavour: str, elsewhere: str, database_url: str
) -> None:
    async def use() -> None:
        async with open_client(database_url) as client:
            job_id = await client.enqueue("echo")
            with pytest.raises(Exception, match="is still open"):
                await client.wait(job_id, timeout=0.01)  # the task of waits stays for a while
            await in_thread(refused_elsewhere, elsewhere, lambda: client.wait(job_id, timeout=5))

    in_flavour(flavour, use)


@pytest.mark.parametrize("elsewhere", FLAVOURS)
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_transaction_is_refused_in_another_event_loop(flavour: str, elsewhere: str, database_url: str) -> None:
    async def use() -> None:
        async with open_client(database_url) as client:
            async with client.transaction() as transaction:
                await in_thread(refused_elsewhere, elsewhere, lambda: client.enqueue("echo", connection=transaction))
                await in_thread(refused_elsewhere, elsewhere, lambda: transaction.fetch("select 1"))
            assert await client.chains.list() == []

    in_flavour(flavour, use)


@pytest.mark.parametrize("elsewhere", FLAVOURS)
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_client_that_is_closed_says_so_in_every_event_loop(flavour: str, elsewhere: str, database_url: str) -> None:
    closed: list[Client] = []

    async def use() -> None:
        async with open_client(database_url) as client:
            closed.append(client)

    async def ask_again(ask: Callable[[Client], Awaitable[Any]]) -> None:
        with pytest.raises(ClientClosed):
            await ask(closed[0])

    in_flavour(flavour, use)
    for ask in ASKS.values():
        in_flavour(elsewhere, partial(ask_again, ask))


def test_a_client_of_connect_is_closed_by_its_own_event_loop_alone(database_url: str) -> None:
    async def use() -> None:
        client = await connect(database_url)
        await trio.to_thread.run_sync(refused_elsewhere, "trio", client.close)
        await client.ping()
        await client.close()

    trio.run(use)
