from __future__ import annotations

import asyncio
import gc

import pytest
import trio
import trio.testing

from leasehold.concurrency.shared_loop import EndRefused
from leasehold.database import Database
from leasehold.database.border import cross, run_asyncio
from leasehold.errors import DatabaseUnavailable
from tests.support.waiting import PATIENCE


async def goes_on(database: Database) -> None:
    """Whatever was done to the loop, the database works."""
    with trio.fail_after(PATIENCE):
        assert await database.fetch("select 1")


async def test_an_error_that_nobody_caught_is_logged_and_ends_nothing(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async def child() -> None:
        raise ValueError("forgotten")

    async def careless() -> str:
        forgotten = asyncio.create_task(child())
        asyncio.get_running_loop().call_soon(lambda: 1 / 0)
        await asyncio.wait([forgotten])
        del forgotten
        gc.collect()
        return "done"

    assert await run_asyncio(careless) == "done"
    assert "Task exception was never retrieved: ValueError('forgotten')" in caplog.text
    assert "ZeroDivisionError" in caplog.text
    await goes_on(database)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
async def test_a_task_that_wants_to_end_the_program_ends_only_itself(database: Database, error: BaseException) -> None:
    async def child() -> None:
        await asyncio.sleep(0)
        raise error

    async def parent() -> None:
        with pytest.raises(EndRefused) as caught:
            await asyncio.create_task(child())
        assert caught.value.__cause__ is error

    await run_asyncio(parent)
    with pytest.raises(type(error)) as caught:
        await run_asyncio(child)
    assert caught.value is error
    await goes_on(database)


async def test_the_loop_cannot_be_stopped_by_its_users(database: Database) -> None:
    async def stop() -> None:
        asyncio.get_running_loop().stop()

    with pytest.raises(RuntimeError, match="cannot be stopped"):
        await run_asyncio(stop)
    await goes_on(database)


async def test_nor_can_they_have_a_say_in_how_the_tasks_of_others_are_made(database: Database) -> None:
    async def poison() -> None:
        asyncio.get_running_loop().set_task_factory(None)

    async def shut_down() -> None:
        await asyncio.get_running_loop().shutdown_default_executor()

    for work in (poison, shut_down):
        with pytest.raises(RuntimeError, match="nor its executor, and it keeps its task factory"):
            await run_asyncio(work)
    assert await cross(asyncio.to_thread, int) == 0
    await goes_on(database)


async def test_who_cancels_all_tasks_cancels_statements_of_ours_which_is_an_outage_to_them(database: Database) -> None:
    failed: list[DatabaseUnavailable] = []

    async def statement() -> None:
        with pytest.raises(DatabaseUnavailable, match="has cancelled a task that is not its own") as caught:
            await database.fetch("select pg_sleep(600)")
        failed.append(caught.value)

    async def cancel_all() -> None:
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(statement)
            await trio.testing.wait_all_tasks_blocked()
            while not failed:
                await run_asyncio(cancel_all)
                await trio.testing.wait_all_tasks_blocked(0.01)
    await goes_on(database)


async def test_tasks_can_be_cancelled_before_their_start_and_afterwards(database: Database) -> None:
    steps: list[str] = []

    async def child() -> None:
        steps.append("started")
        try:
            await asyncio.Event().wait()
        finally:
            steps.append("cancelled")

    async def parent() -> None:
        unstarted, started = asyncio.create_task(child()), asyncio.create_task(child())
        unstarted.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        started.cancel()
        await asyncio.wait([unstarted, started])
        assert unstarted.cancelled()
        assert started.cancelled()

    await run_asyncio(parent)
    assert steps == ["started", "cancelled"]
    gc.collect()


async def test_a_crossing_can_be_cancelled_before_its_start(database: Database) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await cross(asyncio.sleep, 60)
    assert scope.cancelled_caught
    gc.collect()


async def test_everything_else_of_a_task_is_as_usual(database: Database) -> None:
    async def child(n: int) -> int:
        await asyncio.sleep(0)
        return n

    async def parent() -> list[int]:
        named = asyncio.create_task(child(1), name="one")
        assert named.get_name() == "one"
        both = list(await asyncio.gather(named, child(2)))
        async with asyncio.TaskGroup() as group:
            third = group.create_task(child(3))
        both.append(third.result())
        async with asyncio.timeout(5):
            both.append(await asyncio.wait_for(child(4), PATIENCE))
        return both

    assert await run_asyncio(parent) == [1, 2, 3, 4]
