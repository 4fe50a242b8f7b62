"""Stacks of running handlers, without a worker. `tests/actors/worker/test_controls.py` asks a worker for them."""

from __future__ import annotations

import threading
from typing import Any

import trio

from leasehold.actors.running.stacks import await_places, stack_of
from leasehold.jobs.job import Job
from leasehold.jobs.kind import CheckedKindOptions, Kind
from tests.support.held import free_kind, held_job
from tests.support.waiting import until


async def handler(job: Job, args: dict[str, Any]) -> None:
    await trio.sleep_forever()


async def wait_in_a_child() -> None:
    await trio.sleep_forever()


async def test_a_stack_shows_the_trio_task_and_the_tasks_it_has_started() -> None:
    tasks: list[trio.lowlevel.Task] = []

    async def slot() -> None:
        tasks.append(trio.lowlevel.current_task())
        async with trio.open_nursery() as children:
            children.start_soon(wait_in_a_child)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(slot)
        await until(lambda: bool(tasks) and bool(tasks[0].child_nurseries))
        stack = stack_of(held_job(kind=free_kind(handler)), tasks[0])
        nursery.cancel_scope.cancel()
    assert stack.startswith("trio task\n")
    assert "in slot" in stack
    assert "in wait_in_a_child" in stack


async def test_a_stack_of_a_thread_shows_what_the_thread_does() -> None:
    tasks: list[trio.lowlevel.Task] = []
    started, go = threading.Event(), threading.Event()

    def work_in_the_thread() -> None:
        started.set()
        go.wait()

    async def slot() -> None:
        tasks.append(trio.lowlevel.current_task())
        await trio.to_thread.run_sync(work_in_the_thread)

    kind: Kind[..., Any] = Kind(
        "in_a_thread", work_in_the_thread, None, CheckedKindOptions()
    )  # a plain function runs in a thread
    async with trio.open_nursery() as nursery:
        nursery.start_soon(slot, name="slot 1 of w1")
        await until(started.is_set)
        stack = stack_of(held_job(kind=kind), tasks[0])
        go.set()
    assert stack.startswith("thread ")
    assert "in work_in_the_thread" in stack
    assert "in slot" not in stack, "the frames that lead to a handler are ours"


def test_the_frames_of_a_suspended_coroutine_come_outermost_first() -> None:
    async def inner() -> None:
        await trio.lowlevel.cancel_shielded_checkpoint()

    async def outer() -> None:
        await inner()

    coroutine = outer()
    coroutine.send(None)
    names = [frame.f_code.co_name for frame, _ in await_places(coroutine)]
    coroutine.close()
    assert names[:3] == ["outer", "inner", "cancel_shielded_checkpoint"]
