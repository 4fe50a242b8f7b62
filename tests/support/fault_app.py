"""Handlers whose workers are stopped, killed and cut off: `leasehold run worker --app tests.support.fault_app:app`."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import trio

from leasehold import App, ContinueWith, Job
from leasehold.database import open_database
from leasehold.errors import LeaseLost

log = logging.getLogger("leasehold.tests")

app = App()
FORKING = multiprocessing.get_context("fork")


@app.kind()
async def quick(job: Job) -> int:
    """End at once, with the attempt."""
    return job.attempt


@app.kind()
async def hold_first(job: Job, seconds: float) -> int:
    """The first attempt takes `seconds`, every later one nothing."""
    if job.attempt == 1:
        await trio.sleep(seconds)
    return job.attempt


@app.kind()
async def hold(seconds: float) -> str:
    """Take `seconds`."""
    await trio.sleep(seconds)
    return "held"


@app.kind()
async def hold_until(until: str) -> str:
    """Take until there is a file of this name."""
    while not os.path.exists(until):  # noqa: ASYNC110, ASYNC240  another process makes it
        await trio.sleep(0.01)
    return "held"


@app.kind()
async def block_loop(until: str) -> str:
    """Do what no handler should: block the event loop, until there is a file of this name."""
    while not os.path.exists(until):  # noqa: ASYNC240
        time.sleep(0.01)  # noqa: ASYNC251  the fault under test
    return "blocked"


@app.kind()
async def spin(until: str) -> str:
    """Block the event loop and hold on to the interpreter as well, until there is a file of this name."""
    turns = 0
    while turns % 100_000 or not os.path.exists(until):  # noqa: ASYNC240
        turns += 1
    return "spun"


@app.kind()
def hold_interpreter(job: Job, folder: str) -> None:
    """Keep every thread of the process from running, as C code does that does not let go of the interpreter.

    Makes `ATTEMPT.held` in the folder, and ends when a byte comes through the pipe `ATTEMPT`.
    """
    descriptor = os.open(f"{folder}/{job.attempt}", os.O_RDWR)
    try:
        Path(f"{folder}/{job.attempt}.held").touch()
        ctypes.PyDLL(None).read(descriptor, ctypes.create_string_buffer(1), 1)
    finally:
        os.close(descriptor)


@app.kind()
def stuck_in_a_thread(job: Job) -> int:
    """The first attempt never looks whether it was cancelled."""
    if job.attempt == 1:
        time.sleep(600)
    return job.attempt


@app.kind(runs="asyncio")
async def end_the_loop(job: Job) -> int:
    """A callback of it wants to end the program, on the asyncio loop that everything else runs on."""
    asyncio.get_running_loop().call_soon(sys.exit)
    await asyncio.sleep(0)
    return job.attempt


@app.kind()
async def write_when_cancelled(job: Job) -> int:
    """The first attempt waits to be cancelled, then writes to `public.written`, as the holder of its lease would."""
    if job.attempt == 1:
        try:
            await trio.sleep_forever()
        finally:
            with trio.move_on_after(10, shield=True):
                await _write_as_holder(job)
    return job.attempt


async def _write_as_holder(job: Job) -> None:
    async with open_database(os.environ["LEASEHOLD_DATABASE_URL"]) as database:
        try:
            async with database.transaction() as transaction:
                await transaction.execute(f"insert into public.written values ({job.id}, {job.attempt})")
                await transaction.call("assert_lease", job.id, job.attempt, job.incarnation)
        except LeaseLost as error:
            log.warning("the write was refused: %s", error)


@app.kind()
async def pay(job: Job, amount: int) -> ContinueWith[str]:
    """Staged: writes `prepared` and `paid` to `public.payments`, and continues with a receipt."""
    async with job.prepare() as tx:
        await tx.execute("insert into public.payments values ($1, $2, 'prepared')", job.id, amount)
    async with job.complete() as tx:
        await tx.execute("insert into public.payments values ($1, $2, 'paid')", job.id, amount)
        job.start(receipt.new(payment=-job.id))
    return job.continue_with(receipt.new(payment=job.id))


@app.kind(mode="atomic")
async def book(job: Job, seconds: float) -> int:
    """Write to `public.booked` in the job's own transaction; the first attempt takes `seconds` before it ends."""
    await job.transaction.execute("insert into public.booked values ($1, $2)", job.id, job.attempt)
    if job.attempt == 1:
        await trio.sleep(seconds)
    return job.attempt


def _forked() -> list[int]:
    """The signals that ended three copies of this process, each by one of its own."""
    ended: list[int] = []
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        reader, writer = os.pipe()
        copy = os.fork()
        if copy == 0:
            os.write(writer, b"!")
            signal.pause()
            os._exit(0)  # where the signal did not end it
        os.read(reader, 1)
        os.kill(copy, number)
        ended.append(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]))
        os.close(reader)
        os.close(writer)
    return ended


app.kind("fork", runs="thread")(_forked)


@app.kind()
def leave_a_pool() -> None:
    """Fail in the middle of a pool, whose end then tells its copies to end."""
    with FORKING.Pool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]
        raise ValueError("the pool is left")


@app.kind()
def end_copies() -> list[int | None]:
    """How two copies ended: one was terminated, and one was sent what Ctrl-C sends."""
    ended: list[int | None] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        ready = FORKING.Event()
        copy = FORKING.Process(target=_wait_for_a_signal, args=(ready,))
        copy.start()
        ready.wait()
        if number == signal.SIGTERM:
            copy.terminate()
        else:
            os.kill(copy.pid or 0, number)
        copy.join()
        ended.append(copy.exitcode)
    return ended


def _wait_for_a_signal(ready: Any) -> None:
    ready.set()
    while True:  # and not `signal.pause`, before which one may come
        time.sleep(0.05)


@app.kind()
def leave_a_copy() -> int:
    """Fork a copy that lives on."""
    if copy := os.fork():
        return copy
    while True:
        signal.pause()


@app.kind()
def close_streams() -> None:
    """Nobody in this process writes to the standard streams any more, on purpose."""
    sys.stdout.close()
    sys.stderr.close()


@app.kind(runs="process")
def fork_in_a_process() -> list[int]:
    """As `fork`, in a process of its own."""
    return _forked()


@app.kind(mode="atomic")
async def book_through_an_outage(job: Job) -> int:
    """As `book`; the first attempt uses its transaction for as long as that goes."""
    await job.transaction.execute("insert into public.booked values ($1, $2)", job.id, job.attempt)
    while job.attempt == 1:
        await job.transaction.execute("select pg_sleep(0.1)")
    return job.attempt


FORGOTTEN = AsyncExitStack()
"""Connections that handlers open and never close."""


@app.kind()
async def forget_a_transaction(job: Job) -> str:
    """Return while a transaction that has asserted the lease stays open on a connection of the handler's own."""
    database = await FORGOTTEN.enter_async_context(open_database(os.environ["LEASEHOLD_DATABASE_URL"]))
    connection = await FORGOTTEN.enter_async_context(database.reserve("forgotten"))
    await connection.execute("begin")
    await connection.call("assert_lease", job.id, job.attempt, job.incarnation)
    return "left open"


@app.kind()
async def receipt(payment: int) -> str:
    """Follows a payment."""
    return f"receipt for {payment}"


@app.kind()
def kill_worker() -> None:
    """Take the whole process down, as C code does."""
    os.abort()


@app.kind()
def poison(seconds: float) -> None:
    """Take the whole process down from a thread, without a word, when its neighbours are well under way."""
    time.sleep(seconds)
    os._exit(1)


@app.kind()
def leave_a_thread(seconds: float) -> str:
    """Start a thread that is no daemon, and end without it."""
    threading.Thread(target=time.sleep, args=(seconds,), name="a thread of somebody's", daemon=False).start()
    return "left"


@app.kind()
async def cancel_the_parent() -> None:
    """Cancel the nursery that the handler's task is in, as code does that takes it for its own."""
    nursery = trio.lowlevel.current_task().parent_nursery
    assert nursery is not None
    nursery.cancel_scope.cancel()
    await trio.sleep_forever()


@app.kind()
def eat_memory(megabytes: int) -> None:
    """Leave the process next to no memory, and want more of it."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 1_000_000, resource.RLIM_INFINITY))
    eaten: list[object] = []
    while True:
        eaten.append([None] * 1_000)


class Unprintable(Exception):
    """One that cannot be told as text."""

    def __str__(self) -> str:
        raise ValueError("no words for it")


@app.kind()
def raise_the_unprintable() -> None:
    """Raise what has no text."""
    raise Unprintable
