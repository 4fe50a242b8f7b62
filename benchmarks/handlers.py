"""The handlers that the measured workers run."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import trio

from leasehold import App, checkpoint

app = App()


@app.kind()
async def noop() -> None:
    """Do nothing: what is left is the cost of the engine."""


@app.kind()
async def page(shop: int, url: str, seen: list[int]) -> dict[str, object]:
    """Take some 200 bytes of args, give back as many of output: what carrying a payload costs."""
    return {"shop": shop, "url": url, "products": seen}


@app.kind()
async def clock_in() -> float:
    """Answer with the time at which the handler started, by the clock of this machine."""
    return time.time()


@app.kind()
async def nap(seconds: float) -> float:
    """Take a slot for so long; answer with the time of the start."""
    started_at = time.time()
    await trio.sleep(seconds)
    return started_at


@app.kind()
def burn(seconds: float) -> None:
    """Keep a CPU busy for so long, in a thread."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@app.kind()
async def until_cancelled(place: str) -> None:
    """Wait, and write down the time of the cancellation by the clock that all processes share."""
    _write(place, "")
    try:
        await trio.sleep_forever()
    finally:
        _write(place, str(time.monotonic()))


@app.kind(runs="asyncio")
async def until_cancelled_in_asyncio(place: str) -> None:
    """As `until_cancelled`."""
    _write(place, "")
    try:
        await asyncio.sleep(600)
    finally:
        _write(place, str(time.monotonic()))


@app.kind()
def until_cancelled_in_a_thread(place: str) -> None:
    """As `until_cancelled`, looking every millisecond."""
    _write(place, "")
    try:
        while True:
            checkpoint()
            time.sleep(0.001)
    finally:
        _write(place, str(time.monotonic()))


def _write(place: str, text: str) -> None:
    Path(place).write_text(text)
