"""What the border promises of one crossing."""

from __future__ import annotations

import asyncio
import gc

import pytest
import sniffio
import trio
import trio.testing

from leasehold.concurrency import asyncio_border as border
from leasehold.errors import ClientClosed
from tests.leasehold.concurrency.asyncio_border.helping import answer, cancel_when_all_wait, in_time, word


async def test_a_function_runs_under_asyncio_and_its_value_comes_back() -> None:
    async def who(first: int, *, second: int) -> tuple[str, int]:
        assert asyncio.current_task() is not None
        await asyncio.sleep(0)
        return sniffio.current_async_library(), first + second

    async with border.open_loop():
        assert await border.cross(who, 1, second=2) == ("asyncio", 3)
        assert sniffio.current_async_library() == "trio"


async def test_what_a_function_raises_comes_back_as_it_is() -> None:
    error = ValueError("mine")

    async def fail(waits: float) -> None:
        await asyncio.sleep(waits)
        raise error

    async with border.open_loop():
        for waits in (0, 0.001):
            with pytest.raises(ValueError, match="mine") as caught:
                await border.cross(fail, waits)
            assert caught.value is error


async def test_a_future_can_be_awaited_and_its_function_finds_a_running_loop() -> None:
    def begin() -> asyncio.Future[int]:
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        loop.call_later(0.001, future.set_result, 7)
        return future

    async with border.open_loop():
        assert await border.cross(begin) == 7


async def test_without_a_loop_and_after_its_end_a_crossing_is_refused() -> None:
    with pytest.raises(ClientClosed):
        await border.cross(answer)
    assert border.current_loop() is None
    async with border.open_loop():
        assert border.current_loop() is not None
    with pytest.raises(ClientClosed):
        await border.cross(answer)
    assert border.current_loop() is None


async def test_cancelling_cancels_the_task_and_waits_for_its_end() -> None:
    steps: list[str] = []

    async def work() -> None:
        steps.append("begun")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.001)
            steps.append("ended")

    async with border.open_loop():
        with in_time(), trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(border.cross, work)
                nursery.start_soon(cancel_when_all_wait, scope)
        assert scope.cancelled_caught
        assert steps == ["begun", "ended"]
        assert await border.cross(answer) == 42


async def test_a_caller_that_is_cancelled_already_begins_nothing() -> None:
    steps: list[str] = []

    async def work() -> None:
        steps.append("begun")

    async with border.open_loop():
        with trio.CancelScope() as scope:
            scope.cancel()
            await border.cross(work)
        assert scope.cancelled_caught
    assert steps == []
    gc.collect()


async def test_a_task_that_ignores_its_cancellation_gives_its_value() -> None:
    said: list[str] = []

    async def stubborn() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.001)
        return "done all the same"

    async with border.open_loop():
        with in_time(), trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(cancel_when_all_wait, scope)
                assert await border.cross(stubborn) == "done all the same"
                said.append("done")
    assert said == ["done"]


async def test_a_task_that_was_cancelled_under_asyncio_says_so() -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    async with border.open_loop():
        with pytest.raises(asyncio.CancelledError):
            await border.cross(give_up)


async def test_a_crossing_is_a_checkpoint_also_where_nothing_waits() -> None:
    async with border.open_loop():
        with trio.testing.assert_checkpoints():
            assert await border.cross(answer) == 42


async def test_a_task_has_a_copy_of_the_callers_context() -> None:
    async def look() -> str:
        found = word.get()
        word.set("changed")
        await asyncio.sleep(0)
        return found

    async with border.open_loop():
        word.set("mine")
        assert await border.cross(look) == "mine"
        assert word.get() == "mine"
