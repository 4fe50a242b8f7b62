"""Handlers whose workers are stopped, killed and cut off: `leasehold run worker --app tests.support.fault_app:app`."""

from __future__ import annotations

import os
import time

import trio

from leasehold import App, Job

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
def kill_worker() -> None:
    """Take the whole process down."""
    os.abort()
