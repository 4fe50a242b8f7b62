"""Handlers whose args and outputs are large."""

from __future__ import annotations

import os
import signal
from typing import Any

from leasehold import App, Job
from leasehold.payloads.archive import Archive

app = App()


@app.kind(runs="process")
def spell(count: int) -> str:
    """A long text."""
    return "x" * count


@app.kind(runs="process")
def measure(text: str) -> int:
    """How long a text is."""
    return len(text)


@app.kind(max_attempts=5)
async def crawl(job: Job) -> list[str]:
    """Pages; where CRASH says so, the first attempt dies when they are in the store and before their row is made."""
    if job.attempt == 1 and "CRASH" in os.environ:
        Archive.record = die
    return ["x" * 1_000] * 1_000


@app.kind(mode="atomic", max_attempts=5)
async def crawl_atomically(job: Job) -> list[str]:
    """The same in one transaction, which is open when it dies."""
    return await crawl.function(job)


def die(*_args: Any, **_named: Any) -> Any:
    """Be killed."""
    os.kill(os.getpid(), signal.SIGKILL)
