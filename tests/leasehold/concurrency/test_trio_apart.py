from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

import pytest
import trio
import trio.testing

from leasehold.concurrency.trio_apart import across, open_apart
from leasehold.errors import ClientClosed
from tests.support.flavours import in_flavour, under_asyncio


class Held:
    """Something that trio holds open: what happened to it, and where."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.threads: set[int] = set()
        self.opening = threading.Event()
        self.hangs = False
        self.breaks: trio.Event | None = None
        self.token: trio.lowlevel.TrioToken | None = None

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[str]:
        self.threads.add(threading.get_ident())
        self.opening.set()
        self.token, self.breaks = trio.lowlevel.current_trio_token(), trio.Event()
        if self.hangs:
            await trio.sleep_forever()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._break)
            try:
                yield "value"
                self.events.append("ended")
            except trio.Cancelled:
                self.events.append("cancelled")
                raise
            nursery.cancel_scope.cancel()

    async def _break(self) -> None:
        assert self.breaks is not None
        await self.breaks.wait()
        raise ZeroDivisionError

    def fail(self) -> None:
        assert self.token is not None
        assert self.breaks is not None
        self.token.run_sync_soon(self.breaks.set)


def test_it_is_open_in_another_thread_as_long_as_the_block_lasts() -> None:
    held = Held()

    async def main() -> None:
        async with open_apart(held.open, "apart") as value:
            assert value == "value"
            assert held.events == []
        assert held.events == ["ended"]

    in_flavour("asyncio", main)
    assert threading.get_ident() not in held.threads


def test_an_exception_of_the_block_cancels_it_and_comes_out() -> None:
    held = Held()

    async def main() -> None:
        with pytest.raises(KeyError):
            async with open_apart(held.open, "apart"):
                raise KeyError

    in_flavour("asyncio", main)
    assert held.events == ["cancelled"]


@under_asyncio
async def test_its_own_failure_cancels_the_block_and_comes_out() -> None:
    held = Held()
    with pytest.raises(ExceptionGroup) as raised:  # noqa: PT012
        async with open_apart(held.open, "apart"):
            held.fail()
            await asyncio.Event().wait()
    assert raised.group_contains(ZeroDivisionError)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


def test_who_is_cancelled_while_it_opens_waits_until_it_has_ended() -> None:
    held = Held()
    held.hangs = True

    async def block() -> None:
        async with open_apart(held.open, "apart"):
            raise AssertionError("it must not begin")

    async def main() -> None:
        opening = asyncio.create_task(block())
        await asyncio.to_thread(held.opening.wait)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening

    in_flavour("asyncio", main)
    assert held.events == []


@under_asyncio
async def test_what_cannot_be_opened_says_why() -> None:
    @asynccontextmanager
    async def broken() -> AsyncGenerator[str]:
        raise KeyError("no")
        yield ""

    with pytest.raises(KeyError):
        async with open_apart(broken, "apart"):
            raise AssertionError("it must not begin")


@contextmanager
def loop_elsewhere() -> Generator[asyncio.AbstractEventLoop]:
    """A loop of asyncio that another thread runs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def test_the_way_back_runs_a_function_on_the_loop_of_the_other_thread() -> None:
    async def where(given: str) -> tuple[str, int, str]:
        await asyncio.sleep(0)
        return given, threading.get_ident(), variable.get()

    async def fail() -> None:
        raise KeyError("no")

    variable: ContextVar[str] = ContextVar("variable")
    variable.set("ours")
    with loop_elsewhere() as loop:
        given, thread, seen = await across(loop, where, "given")
        assert (given, seen) == ("given", "ours")
        assert thread != threading.get_ident()
        with pytest.raises(KeyError, match="no"):
            await across(loop, fail)


async def test_who_is_cancelled_on_the_way_back_waits_until_the_task_has_ended() -> None:
    begun, events = threading.Event(), list[str]()

    async def work() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            events.append("ended")

    with loop_elsewhere() as loop:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(across, loop, work)
            await trio.to_thread.run_sync(begun.wait)
            nursery.cancel_scope.cancel()
        assert events == ["ended"]


async def test_there_is_no_way_back_to_a_loop_that_is_closed_nor_to_one_that_closes_before_it_begins() -> None:
    async def nothing() -> None:
        raise AssertionError("it must not begin")

    loop = asyncio.new_event_loop()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(closed_under, loop, nothing)
        await trio.testing.wait_all_tasks_blocked()
        loop.close()
    await closed_under(loop, nothing)


async def test_a_task_that_the_end_of_its_loop_cancels_says_so() -> None:
    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    begun = threading.Event()
    with loop_elsewhere() as loop:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(closed_under, loop, wait)
            await trio.to_thread.run_sync(begun.wait)
            loop.call_soon_threadsafe(cancel_all, loop)


def cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        task.cancel()


async def closed_under(loop: asyncio.AbstractEventLoop, function: Callable[[], Awaitable[None]]) -> None:
    with pytest.raises(ClientClosed):
        await across(loop, function)
