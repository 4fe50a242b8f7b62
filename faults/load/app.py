"""The handlers of the fleet: `leasehold run worker --app faults.load.app:app`.

Each output has the token of its attempt, so that the checker sees which attempt a completion belongs to.
"""

from __future__ import annotations

import ctypes
import logging
import os
import time
from contextlib import suppress
from typing import Any

import trio

from faults.fleet.member import HANGS
from faults.load.diary import Diary, shift_clock
from leasehold import App, Attempt, CallNext, Job, RetryPolicy
from leasehold.actors.leases.keeper import Keeper
from leasehold.jobs.endings import ContinueWith

log = logging.getLogger(__name__)

INSERT = "insert into public.effects (job_id, attempt) values ($1, $2)"
SOON = RetryPolicy(initial=0.2, cap=2.0)

app = App()
shift_clock()
diary = Diary.of_process()


@app.middleware
async def write_down(attempt: Attempt, call_next: CallNext) -> Any:
    """When each attempt ran, as its own process saw it."""
    job = attempt.job
    began = diary.begin(job.id, job.attempt, job.incarnation)
    try:
        return await call_next()
    finally:
        diary.end(began)


def said(job: Job) -> dict[str, Any]:
    """The token of this attempt, as an output."""
    return {"token": [job.attempt, str(job.incarnation)]}


@app.kind(retry=SOON)
async def plain(job: Job) -> dict[str, Any]:
    """End at once."""
    return said(job)


@app.kind(retry=SOON)
async def linger(job: Job, seconds: float) -> dict[str, Any]:
    """Take a while."""
    await trio.sleep(seconds)
    return said(job)


@app.kind(retry=SOON)
def in_thread(job: Job, seconds: float) -> dict[str, Any]:
    """Take a while in a thread, which nobody can cancel."""
    time.sleep(seconds)
    return said(job)


@app.kind(retry=SOON)
async def stumble(job: Job, times: int) -> dict[str, Any]:
    """Fail so often before it works."""
    if job.attempt - 1 < times:
        raise ValueError(f"attempt {job.attempt} stumbles")
    return said(job)


@app.kind(retry=RetryPolicy(initial=0.1, cap=0.1))
async def hopeless(job: Job) -> None:
    """Fail each time."""
    raise RuntimeError(f"attempt {job.attempt} fails as well")


@app.kind(retry=SOON)
async def swallow(job: Job) -> dict[str, Any]:
    """Take a while, and take no notice of a cancellation."""
    with suppress(trio.Cancelled):
        await trio.sleep(0.3)
    return said(job)


@app.kind(retry=SOON)
async def pay(job: Job) -> dict[str, Any]:
    """Write an effect in the transaction that completes the job."""
    async with job.prepare() as tx:
        await tx.fetch("select 1")
    async with job.complete() as tx:
        await tx.execute(INSERT, job.id, job.attempt)
    return said(job)


@app.kind(mode="atomic", retry=SOON)
async def pay_atomic(job: Job) -> dict[str, Any]:
    """The same in one transaction."""
    await job.transaction.execute(INSERT, job.id, job.attempt)
    return said(job)


@app.kind(retry=SOON)
def pay_in_thread(job: Job) -> dict[str, Any]:
    """The same from a thread."""
    with job.complete() as tx:
        tx.execute(INSERT, job.id, job.attempt)
    return said(job)


@app.kind(retry=SOON)
async def pay_and_go_on(job: Job, links: int) -> dict[str, Any] | ContinueWith[Any]:
    """Write an effect, and continue the chain in the same commit."""
    async with job.complete() as tx:
        await tx.execute(INSERT, job.id, job.attempt)
    return job.continue_with(link.new(links=links))


@app.kind(retry=SOON)
async def link(job: Job, links: int) -> dict[str, Any] | ContinueWith[Any]:
    """A chain of so many further links."""
    if links > 0:
        return job.continue_with(link.new(links=links - 1))
    return said(job)


@app.kind(retry=SOON)
async def fan_in(job: Job) -> dict[str, Any]:
    """Blocked by other chains; looks at what they ended with."""
    outputs = await job.blockers()
    return {**said(job), "blockers": len(outputs)}


@app.kind(retry=SOON)
async def ticked(job: Job) -> dict[str, Any]:
    """Made by a schedule."""
    return said(job)


@app.kind(retry=SOON)
async def block_loop(job: Job, seconds: float) -> dict[str, Any]:
    """Block the event loop of the worker, as no handler should."""
    if job.attempt == 1:
        time.sleep(seconds)  # noqa: ASYNC251  the fault under test
    return said(job)


@app.kind(max_attempts=5, retry=SOON)
def poison(how: str) -> None:
    """Take the whole worker down."""
    if how == "exit":
        os._exit(3)
    if how == "abort":
        os.abort()
    ctypes.string_at(0)


@app.kind(max_attempts=5, retry=SOON)
async def hang_keeper(job: Job) -> dict[str, Any]:
    """The lease keeper of this process stops renewing; its worker has to notice."""
    if job.attempt == 1:
        log.warning(HANGS, os.getpid())
        Keeper.renew_due = _hang  # type: ignore[method-assign]  # pyright: ignore
        await trio.sleep(30)
    return said(job)


async def _hang(*_: Any) -> None:
    while True:
        time.sleep(1)  # noqa: ASYNC251  the fault under test
