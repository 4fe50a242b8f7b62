"""The handlers that the measured workers run."""

from __future__ import annotations

import time

from leasehold import App

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
