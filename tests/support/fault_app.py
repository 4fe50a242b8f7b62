"""Handlers whose workers are stopped, killed and cut off: `leasehold run worker --app tests.support.fault_app:app`."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import sys
import time
from contextlib import AsyncExitStack

import psycopg
import trio

from leasehold import App, ContinueWith, Job
from leasehold.database import open_database
from leasehold.errors import LeaseLost

log = logging.getLogger("leasehold.tests")

app = App()


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
async def block_loop(seconds: float) -> str:
    """Do what no handler should: block the event loop."""
    time.sleep(seconds)  # noqa: ASYNC251  the fault under test
    return "blocked"


@app.kind()
async def spin(seconds: float) -> str:
    """Block the event loop and hold on to the interpreter as well."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass
    return "spun"


@app.kind()
def stuck_in_a_thread(job: Job) -> int:
    """The first attempt never looks whether it was cancelled."""
    if job.attempt == 1:
        time.sleep(600)
    return job.attempt


@app.kind(runs="asyncio")
async def end_the_loop(job: Job) -> int:
    """The first attempt takes the asyncio loop down that everything else runs on."""
    if job.attempt == 1:
        asyncio.get_running_loop().call_soon(sys.exit)
        await asyncio.sleep(600)
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
    """Take the whole process down."""
    os.abort()


@app.kind()
def poison(seconds: float) -> None:
    """Take the whole process down from a thread, without a word, when its neighbours are well under way."""
    time.sleep(seconds)
    os._exit(1)


@app.kind()
def segfault() -> None:
    """Take the whole process down as C code does."""
    ctypes.string_at(0)


@app.kind()
async def say_who(job: Job, who: int) -> int:
    """Write who it is to `public.effects`, in the commit that completes the job."""
    async with job.complete() as tx:
        await tx.execute("insert into public.effects values ($1, $2)", job.id, who)
    return who


@app.kind()
async def hold_until_told(who: int) -> int:
    """Hold until there is a table `public.told`."""
    await trio.to_thread.run_sync(_until_told)
    return who


@app.kind()
async def told_to_end(who: int) -> int:
    """End by returning when told, whatever was lost meanwhile."""
    with trio.CancelScope(shield=True):
        await trio.to_thread.run_sync(_until_there)
    return who


@app.kind()
def told_to_end_in_a_thread(job: Job, who: int) -> int:
    """Complete the job over a connection of its own when the database is there again, with what it was told at its start."""
    values = job.completion(output=who)
    _until_there()
    with psycopg.connect(os.environ["LEASEHOLD_DATABASE_URL"]) as connection:
        connection.execute("insert into public.effects values (%s, %s)", (job.id, who))
        connection.execute("select leasehold.complete_job(%s, %s, %s, %s, %s)", tuple(values))
    return who


def _until_told() -> None:
    """Until somebody has made the table that says so."""
    _until("to_regclass('public.told') is not null")


def _until_there() -> None:
    """Until the database is another server than at first."""
    _until("pg_walfile_name(pg_current_wal_lsn()) not like '00000001%'")


def _until(question: str) -> None:
    while True:
        try:
            with psycopg.connect(os.environ["LEASEHOLD_DATABASE_URL"], autocommit=True) as connection:
                while not connection.execute(f"select 1 where {question}".encode()).fetchone():
                    time.sleep(0.05)
                return
        except psycopg.Error:  # whatever a server says that is about to go or to come
            time.sleep(0.05)
