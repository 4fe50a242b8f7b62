"""What the border promises of a loop: how it ends, and what it leaves."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import sniffio
import trio

from leasehold.concurrency import asyncio_border as border
from tests.leasehold.concurrency.asyncio_border.helping import answer, in_time


async def test_what_a_block_raises_comes_out_as_it_is() -> None:
    error = ValueError("mine")
    with pytest.raises(ValueError, match="mine") as caught:
        async with border.open_loop():
            raise error
    assert caught.value is error


async def test_a_cancelled_block_ends_and_its_loop_with_it() -> None:
    with in_time(), trio.CancelScope() as scope:
        async with border.open_loop():
            assert await border.cross(answer) == 42
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert border.current_loop() is None


async def test_tasks_that_nobody_waits_for_are_cancelled_at_the_end_of_the_loop(
    caplog: pytest.LogCaptureFixture,
) -> None:
    steps: list[str] = []
    kept: list[asyncio.Task[Any]] = []

    async def forgotten() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            steps.append("cleaned up")

    async def begin() -> None:
        kept.append(asyncio.create_task(forgotten()))
        await asyncio.sleep(0)

    async with border.open_loop():
        await border.cross(begin)
    assert steps == ["cleaned up"]
    assert [task.done() for task in kept] == [True]
    gc.collect()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_ctrl_c_interrupts_no_step_of_asyncio() -> None:
    async def look() -> bool:
        await asyncio.sleep(0)
        return trio.lowlevel.currently_ki_protected()

    async with border.open_loop():
        assert await border.cross(look) is True


async def test_crossings_of_every_sort_all_come_back() -> None:
    async def work(n: int) -> int:
        match n % 5:
            case 0:
                await asyncio.sleep(0)
            case 1:
                await asyncio.sleep(n / 1e6)
            case 2:
                await asyncio.to_thread(int)
            case 3:
                await asyncio.gather(*(asyncio.sleep(0) for _ in range(n % 7)))
            case _:
                pass
        return n

    found: list[int] = []

    async def cross(n: int) -> None:
        found.append(await border.cross(work, n))

    async with border.open_loop():
        with in_time():
            async with trio.open_nursery() as nursery:
                for n in range(500):
                    nursery.start_soon(cross, n)
    assert sorted(found) == list(range(500))


async def test_generators_that_were_left_are_closed_under_asyncio() -> None:
    closed: list[str] = []

    async def numbers() -> AsyncGenerator[int]:
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(0)
            closed.append(sniffio.current_async_library())

    async def read_one() -> None:
        async for _ in numbers():
            break
        gc.collect()

    async with border.open_loop():
        await border.cross(read_one)
    gc.collect()
    assert closed == ["asyncio"]


async def test_loops_may_be_opened_inside_one_another() -> None:
    async with border.open_loop():
        outer = border.current_loop()
        async with border.open_loop():
            assert border.current_loop() is not outer
            assert await border.cross(answer) == 42
        assert border.current_loop() is outer
        assert await border.cross(answer) == 42


def test_a_program_leaves_nothing_open() -> None:
    """Sockets and tasks that were left would warn here, and warnings are errors."""

    async def main() -> int:
        async with border.open_loop():
            return await border.cross(answer)

    assert [trio.run(main) for _ in range(3)] == [42] * 3
    gc.collect()
