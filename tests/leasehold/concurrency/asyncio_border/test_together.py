"""What the border promises while both sides go on: timers, threads, sockets."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing

from leasehold.concurrency import asyncio_border as border
from tests.leasehold.concurrency.asyncio_border.helping import in_time, word
from tests.support.waiting import PATIENCE


async def test_time_limits_of_both_sides_pass_alike(autojump_clock: trio.testing.MockClock) -> None:
    async def wait() -> str:
        await asyncio.sleep(3600)
        return "an hour"

    async with border.open_loop():
        began = trio.current_time()
        assert await border.cross(wait) == "an hour"
        assert 3600 <= trio.current_time() - began < 3601
        with trio.move_on_after(60) as scope:
            await border.cross(wait)
        assert scope.cancelled_caught
        with pytest.raises(TimeoutError):
            await border.cross(asyncio.wait_for, asyncio.Event().wait(), 60)


async def test_trio_goes_on_while_asyncio_does_and_the_other_way_round() -> None:
    turns = {"trio": 0, "asyncio": 0}
    both = trio.Event()

    def turn(who: str) -> None:
        turns[who] += 1
        if min(turns.values()) >= 100:
            both.set()

    async def spin() -> None:
        while True:
            turn("asyncio")
            await asyncio.sleep(0)

    async def spin_here() -> None:
        while True:
            turn("trio")
            await trio.lowlevel.checkpoint()

    async with border.open_loop(), trio.open_nursery() as nursery:
        nursery.start_soon(border.cross, spin)
        nursery.start_soon(spin_here)
        with in_time():
            await both.wait()
        nursery.cancel_scope.cancel()


async def test_trio_can_wake_what_waits_under_asyncio() -> None:
    """Also where the loop sleeps and no socket stirs: nothing but the call says that there is something to do."""
    async with border.open_loop():
        loop = border.current_loop()
        assert loop is not None
        hows: list[Any] = [loop.call_soon, loop.call_soon_threadsafe, partial(loop.call_later, 0.001)]
        for how in hows:
            event = asyncio.Event()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(border.cross, event.wait)
                await trio.testing.wait_all_tasks_blocked(0.001)
                with in_time():
                    how(event.set)


async def test_a_thread_that_calls_what_only_the_thread_of_the_loop_may_call_stops_nothing() -> None:
    """As `Event.set` does in a thread, and what a finalizer does that the garbage collector runs there."""
    async with border.open_loop():
        loop = border.current_loop()
        assert loop is not None
        hows: list[Any] = [loop.call_soon, partial(loop.call_later, 0.001)]
        for how in hows:
            event = asyncio.Event()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(border.cross, asyncio.wait_for, event.wait(), 3600)
                await trio.testing.wait_all_tasks_blocked(0.001)
                with in_time():
                    await trio.to_thread.run_sync(how, event.set)
                    await border.cross(asyncio.sleep, 0.001)


async def test_a_call_from_a_thread_is_not_lost_in_the_step_that_hears_of_the_one_before() -> None:
    """The step that empties the loop's own pipe empties it of the second call as well, and runs only the first."""
    async with border.open_loop():
        loop = border.current_loop()
        assert loop is not None
        event = asyncio.Event()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(border.cross, event.wait)
            await trio.testing.wait_all_tasks_blocked(0.001)
            nursery.cancel_scope.deadline = trio.current_time() + PATIENCE
            loop.call_soon_threadsafe(loop.call_soon_threadsafe, event.set)
        assert not nursery.cancel_scope.cancelled_caught


async def test_a_sooner_timer_is_not_kept_waiting_by_a_later_one() -> None:
    async with border.open_loop(), trio.open_nursery() as nursery:
        nursery.start_soon(border.cross, asyncio.sleep, 3600)
        await trio.testing.wait_all_tasks_blocked(0.001)
        with in_time():
            await border.cross(asyncio.sleep, 0.001)
            await border.cross(asyncio.wait_for, nap(), 3600)
        nursery.cancel_scope.cancel()


async def nap() -> None:
    await asyncio.sleep(0.001)


async def test_another_thread_can_wake_what_waits() -> None:
    async def wait() -> str:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[str] = loop.create_future()
        threading.Thread(target=loop.call_soon_threadsafe, args=(future.set_result, "from a thread")).start()
        return await future

    async with border.open_loop():
        with in_time():
            assert [await border.cross(wait) for _ in range(20)] == ["from a thread"] * 20


async def test_functions_run_in_threads_with_the_context_of_the_task() -> None:
    async def apart() -> tuple[str, bool]:
        return await asyncio.to_thread(lambda: (word.get(), threading.current_thread() is threading.main_thread()))

    async with border.open_loop():
        word.set("mine")
        with in_time():
            assert await border.cross(apart) == ("mine", False)


async def test_who_shuts_down_the_executor_that_all_share_harms_nobody_who_comes_later() -> None:
    async def shut_down() -> None:
        with ThreadPoolExecutor(1) as mine:
            asyncio.get_running_loop().set_default_executor(mine)

    async with border.open_loop():
        with in_time():
            await border.cross(shut_down)
            assert await border.cross(asyncio.to_thread, int) == 0


async def test_sockets_work_under_asyncio() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()
        await writer.wait_closed()

    async def talk() -> bytes:
        async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(b"hello\n")
            line = await reader.readline()
            writer.close()
            await writer.wait_closed()
            return line

    async with border.open_loop():
        with in_time():
            assert await border.cross(talk) == b"hello\n"
