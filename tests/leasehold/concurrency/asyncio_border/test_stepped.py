"""What stepping the loop brings with it."""

from __future__ import annotations

import asyncio
import gc
import sys
from contextlib import suppress
from typing import Any

import pytest
import trio
import trio.testing

from leasehold.concurrency import asyncio_border as border
from leasehold.errors import ClientClosed
from tests.support.waiting import PATIENCE


async def answer() -> int:
    return 42


async def test_a_callback_that_wants_to_end_the_program_is_logged_and_ends_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work() -> None:
        asyncio.get_running_loop().call_soon(sys.exit, 3)
        await asyncio.sleep(0)

    async with border.open_loop():
        await border.cross(work)
        assert await border.cross(answer) == 42
    assert "a callback wanted to end the program: SystemExit(3)" in caplog.text


async def test_code_under_trio_finds_no_running_loop() -> None:
    async with border.open_loop():
        await border.cross(answer)
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()


async def test_a_thread_that_inherits_the_context_has_a_loop_of_its_own() -> None:
    async def elsewhere() -> int:
        assert border.current_loop() is None
        with pytest.raises(ClientClosed):
            await border.cross(answer)
        async with border.open_loop():
            return await border.cross(answer)

    async with border.open_loop():
        with trio.fail_after(PATIENCE):
            assert await trio.to_thread.run_sync(trio.run, elsewhere) == 42
        assert await border.cross(answer) == 42


async def test_a_task_that_ignores_the_end_of_its_loop_is_named_and_left(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(border, "END_SECONDS", 0.01)
    kept: list[Any] = []

    async def stubborn() -> None:
        while not kept[0].done():
            try:
                await kept[0]
            except asyncio.CancelledError:
                kept[0] = asyncio.get_running_loop().create_future()

    async def begin() -> None:
        kept.append(asyncio.get_running_loop().create_future())
        kept.append(asyncio.create_task(stubborn(), name="stubborn"))
        await asyncio.sleep(0)

    with trio.fail_after(PATIENCE):
        async with border.open_loop():
            await border.cross(begin)
    assert "stubborn goes on although it was cancelled; its loop ends without it" in caplog.text
    kept.clear()
    gc.collect()


@pytest.mark.parametrize("times", [1, 2])
async def test_a_task_that_cancels_all_others_as_it_ends_leaves_them_the_time_to_end(
    times: int, caplog: pytest.LogCaptureFixture
) -> None:
    kept: list[asyncio.Task[None]] = []

    async def cancels_all() -> None:
        for _ in range(times):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                for other in asyncio.all_tasks() - {asyncio.current_task(), *kept}:
                    other.cancel()

    async def tidies_up() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(3 * border.LAST_STEPS):
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(0)

    async def begin() -> None:
        kept.extend(asyncio.create_task(work()) for work in (cancels_all, tidies_up))
        await asyncio.sleep(0)

    with trio.fail_after(PATIENCE):
        async with border.open_loop():
            await border.cross(begin)
    assert ("cancels all others again and again" in caplog.text, kept[1].done()) == (times == 2, times == 1)
    kept.clear()
    gc.collect()


async def test_who_still_waits_when_the_loop_is_left_is_told() -> None:
    async def wait() -> None:
        with pytest.raises(ClientClosed):
            await border.cross(asyncio.Event().wait)

    async with trio.open_nursery() as nursery, border.open_loop():
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()


async def test_nor_waits_who_has_a_task_that_ignores_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(border, "END_SECONDS", 0.01)
    kept: list[Any] = []

    async def stubborn() -> None:
        kept.append(asyncio.current_task())
        while True:
            try:
                kept.append(asyncio.get_running_loop().create_future())
                await kept[-1]
            except asyncio.CancelledError:
                continue

    async def wait() -> None:
        with pytest.raises(ClientClosed):
            await border.cross(stubborn)

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery, border.open_loop():
            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked()
    kept.clear()
    gc.collect()


def test_a_program_that_ends_without_closing_its_loop_waits_for_nobody() -> None:
    ended: list[str] = []

    async def end_slowly(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(5):
                await asyncio.sleep(0)
            ended.append(name)

    async def leave_behind() -> None:
        left.append(asyncio.create_task(end_slowly("left")))

    async def hold() -> None:
        async with border.open_loop(), trio.open_nursery() as nursery:
            await border.cross(leave_behind)
            nursery.start_soon(border.cross, end_slowly, "awaited")

    async def main() -> None:
        trio.lowlevel.spawn_system_task(hold)
        await trio.testing.wait_all_tasks_blocked()

    left: list[asyncio.Task[None]] = []
    trio.run(main)
    assert sorted(ended) == ["awaited", "left"]


def test_a_loop_that_cannot_go_on_ends_the_program_and_leaves_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Exception):
        """The kernel has taken the selector away."""

    def fail() -> None:
        raise Broken

    async def main() -> None:
        async with border.open_loop(), trio.open_nursery() as nursery:
            nursery.start_soon(border.cross, asyncio.Event().wait)
            await trio.testing.wait_all_tasks_blocked()
            loop = border.current_loop()
            monkeypatch.setattr(loop, "step", fail)
            assert loop is not None
            loop.call_soon(int)
            with trio.CancelScope(shield=True):
                await border.loop_ended()

    with pytest.raises(trio.TrioInternalError):
        trio.run(main)
    gc.collect()
