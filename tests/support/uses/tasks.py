"""Tasks, timeouts, threads, queues and locks of asyncio."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import aclosing
from multiprocessing import get_context
from typing import Any

from tests.support.uses import never, soon, use, wrong

VALUE: contextvars.ContextVar[str] = contextvars.ContextVar("value", default="none")


@use
async def gather() -> Any:
    return await asyncio.gather(soon(1), soon(2))


@use
async def gather_with_errors() -> Any:
    return [str(each) for each in await asyncio.gather(soon(), wrong(), return_exceptions=True)]


@use
async def gather_fails() -> Any:
    return await asyncio.gather(wrong(), never())


@use
async def a_task() -> Any:
    task = asyncio.create_task(soon(3), name="mine")
    return [await task, task.get_name(), task.done()]


@use
async def a_group() -> Any:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(soon(n)) for n in range(3)]
    return [task.result() for task in tasks]


@use
async def a_group_that_fails() -> Any:
    said, others = list[str](), list[asyncio.Task[None]]()
    try:
        async with asyncio.TaskGroup() as group:
            others.append(group.create_task(never()))
            group.create_task(wrong())
    except* ValueError as errors:
        said += [str(each) for each in errors.exceptions]
    return [said, [other.cancelled() for other in others]]


@use
async def a_group_whose_children_have_not_begun() -> Any:
    said: list[str] = []
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(never())
            int("before")
    except* ValueError as errors:
        said += [str(each) for each in errors.exceptions]
    return said


@use
async def timeout_in_time() -> Any:
    async with asyncio.timeout(60) as timeout:
        await soon()
    return timeout.expired()


@use
async def timeout_expires() -> Any:
    async with asyncio.timeout(0.01):
        await never()


@use
async def timeouts_nested() -> Any:
    try:
        async with asyncio.timeout(60):
            async with asyncio.timeout(0.01):
                await never()
    except TimeoutError:
        return await soon("inner")


@use
async def timeout_moved() -> Any:
    async with asyncio.timeout(0.01) as timeout:
        timeout.reschedule(None)
        return await soon("moved")


@use
async def wait_for() -> Any:
    return await asyncio.wait_for(soon(4), 60)


@use
async def wait_for_too_long() -> Any:
    await asyncio.wait_for(never(), 0.01)


@use
async def shield() -> Any:
    inner = asyncio.create_task(soon(5))
    outer = asyncio.ensure_future(asyncio.shield(inner))
    await asyncio.sleep(0)
    outer.cancel()
    return await inner


@use
async def wait_for_the_first() -> Any:
    slow = asyncio.create_task(never())
    done, pending = await asyncio.wait([slow, asyncio.create_task(soon(6))], return_when=asyncio.FIRST_COMPLETED)
    slow.cancel()
    return [[task.result() for task in done], len(pending)]


@use
async def as_completed() -> Any:
    return sorted([await each for each in asyncio.as_completed([soon(n) for n in range(3)])])


@use
async def sleeps() -> Any:
    return await asyncio.sleep(0.001, "slept")


@use
async def calls() -> Any:
    loop, order, done = asyncio.get_running_loop(), list[str](), asyncio.Event()
    loop.call_soon(order.append, "soon")
    loop.call_later(0.001, order.append, "later")
    loop.call_at(loop.time() + 0.002, lambda: (order.append("at"), done.set()))
    loop.call_soon(order.append, "never").cancel()
    await done.wait()
    return order


@use
async def calls_from_a_thread() -> Any:
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    thread = threading.Thread(target=loop.call_soon_threadsafe, args=(done.set,))
    thread.start()
    await done.wait()
    thread.join()
    return "called"


@use
async def coroutine_from_a_thread() -> Any:
    loop = asyncio.get_running_loop()
    return await asyncio.to_thread(lambda: asyncio.run_coroutine_threadsafe(soon(7), loop).result())


@use
async def to_thread() -> Any:
    VALUE.set("set")
    return await asyncio.to_thread(lambda: [VALUE.get(), threading.current_thread() is threading.main_thread()])


@use
async def default_executor() -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, sum, [1, 2])


@use
async def own_threads() -> Any:
    with ThreadPoolExecutor(1) as pool:
        return await asyncio.get_running_loop().run_in_executor(pool, sum, [3, 4])


@use
async def own_processes() -> Any:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return await asyncio.get_running_loop().run_in_executor(pool, abs, -5)


@use
async def default_executor_of_ones_own() -> Any:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(2, "mine"))
    return await asyncio.to_thread(lambda: threading.current_thread().name.split("_")[0])


@use
async def a_queue() -> Any:
    queue: asyncio.Queue[int] = asyncio.Queue(1)

    async def put() -> None:
        for n in range(3):
            await queue.put(n)

    task = asyncio.create_task(put())
    got = [await queue.get() for _ in range(3)]
    for _ in got:
        queue.task_done()
    await asyncio.gather(task, queue.join())
    return got


@use
async def other_queues() -> Any:
    best: asyncio.PriorityQueue[int] = asyncio.PriorityQueue()
    last: asyncio.LifoQueue[int] = asyncio.LifoQueue()
    for n in (2, 1):
        best.put_nowait(n)
        last.put_nowait(n)
    return [best.get_nowait(), await last.get(), last.qsize()]


@use
async def a_queue_that_is_full() -> Any:
    queue: asyncio.Queue[int] = asyncio.Queue(1)
    queue.put_nowait(1)
    queue.put_nowait(2)


@use
async def locks() -> Any:
    lock, order = asyncio.Lock(), list[int]()

    async def hold(n: int) -> None:
        async with lock:
            await asyncio.sleep(0)
            order.append(n)

    await asyncio.gather(*(hold(n) for n in range(3)))
    return [order, lock.locked()]


@use
async def semaphores() -> Any:
    semaphore, most, now = asyncio.BoundedSemaphore(2), 0, 0

    async def hold() -> None:
        nonlocal most, now
        async with semaphore:
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1

    await asyncio.gather(*(hold() for _ in range(5)))
    return most


@use
async def conditions() -> Any:
    condition, ready = asyncio.Condition(), False

    async def tell() -> None:
        nonlocal ready
        async with condition:
            ready = True
            condition.notify_all()

    task = asyncio.create_task(tell())
    async with condition:
        await condition.wait_for(lambda: ready)
    await task
    return ready


@use
async def barriers() -> Any:
    barrier = asyncio.Barrier(2)
    return sorted(await asyncio.gather(barrier.wait(), barrier.wait()))


@use
async def futures() -> Any:
    loop = asyncio.get_running_loop()
    good, bad = loop.create_future(), loop.create_future()
    loop.call_soon(good.set_result, 8)
    loop.call_soon(bad.set_exception, OSError("no"))
    return [await good, str((await asyncio.gather(bad, return_exceptions=True))[0])]


@use
async def the_current_task() -> Any:
    task: Any = asyncio.current_task()
    return [task in asyncio.all_tasks(), len(task.get_stack()) > 0, task.get_coro().cr_running, task.cancelling()]


@use
async def cancelling_with_a_message() -> Any:
    task = asyncio.create_task(never())
    await asyncio.sleep(0)
    task.cancel("enough")
    try:
        await task
    except asyncio.CancelledError as error:
        return [*error.args, task.cancelled()]


@use
async def catching_a_cancel() -> Any:
    async def stubborn() -> str:
        try:
            await never()
        except asyncio.CancelledError:
            current = asyncio.current_task()
            assert current is not None
            return f"went on, {current.cancelling()}, {current.uncancel()}"
        return ""

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    task.cancel()
    return await task


@use
async def cancelling_oneself() -> Any:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        return task.uncancel()


@use
async def callbacks_of_tasks() -> Any:
    told = asyncio.get_running_loop().create_future()
    asyncio.create_task(soon(9)).add_done_callback(lambda task: told.set_result(task.result()))
    return await told


@use
async def context_of_tasks() -> Any:
    VALUE.set("outer")

    async def change() -> str:
        before = VALUE.get()
        VALUE.set("inner")
        return before

    return [await asyncio.create_task(change()), VALUE.get()]


@use
async def async_generators() -> Any:
    ended: list[str] = []

    async def count() -> AsyncGenerator[int]:
        try:
            for n in range(10):
                yield await soon(n)
        finally:
            await asyncio.sleep(0)
            ended.append("closed")

    async with aclosing(count()) as numbers:
        async for n in numbers:
            if n == 2:
                break
    return ended


@use
async def loops() -> Any:
    loop = asyncio.get_running_loop()
    return [loop is asyncio.get_event_loop(), loop.is_running(), loop.is_closed(), loop.get_debug()]


@use
async def running_in_running() -> Any:
    work = soon()
    try:
        asyncio.run(work)
    finally:
        work.close()


@use
async def running_in_a_thread() -> Any:
    return await asyncio.to_thread(asyncio.run, soon("another loop"))
