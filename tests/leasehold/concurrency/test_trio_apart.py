from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import trio

from leasehold.concurrency.trio_apart import open_apart
from tests.support.flavours import in_flavour


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


def test_its_own_failure_cancels_the_block_and_comes_out() -> None:
    held = Held()

    async def main() -> None:
        with pytest.raises(ExceptionGroup) as raised:  # noqa: PT012
            async with open_apart(held.open, "apart"):
                held.fail()
                await asyncio.Event().wait()
        assert raised.group_contains(ZeroDivisionError)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

    in_flavour("asyncio", main)


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


def test_what_cannot_be_opened_says_why() -> None:
    @asynccontextmanager
    async def broken() -> AsyncGenerator[str]:
        raise KeyError("no")
        yield ""

    async def main() -> None:
        with pytest.raises(KeyError):
            async with open_apart(broken, "apart"):
                raise AssertionError("it must not begin")

    in_flavour("asyncio", main)
