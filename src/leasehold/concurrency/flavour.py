"""Which event loop runs the calling code."""

from __future__ import annotations

from typing import Literal

import sniffio

Flavour = Literal["trio", "asyncio"]


def running_flavour() -> Flavour:
    """`trio` or `asyncio`: the one that runs the caller.

    Raises RuntimeError outside both.
    """
    library = sniffio.current_async_library()
    if library == "trio":
        return "trio"
    if library == "asyncio":
        return "asyncio"
    raise RuntimeError(f"leasehold runs under trio and asyncio, not under {library}")
