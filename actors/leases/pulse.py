"""What the worker's thread and the keeper's know of each other: whether the worker's event loop turns, and who rests."""

from __future__ import annotations

import threading
from time import monotonic

from leasehold.concurrency.signal import Signal


class Pulse:
    """Of the worker's event loop: beaten by the watcher, read by the keeper. It rests while the worker holds no job.

    Attributes:
        at: when the event loop last turned.
        thread: of the event loop.
        is_resting: whether nobody beats it.
    """

    def __init__(self) -> None:
        self.at = monotonic()
        self.thread = threading.get_ident()
        self.is_resting = False
        self._stirred = Signal()

    def beat(self) -> None:
        """The event loop turns."""
        self.at = monotonic()

    def stir(self) -> None:
        """Jobs were claimed: the rest is over."""
        self.beat()  # first: the keeper's thread believes the last beat as soon as nobody rests
        self.is_resting = False
        self._stirred.set()

    async def rest(self) -> None:
        """Return at the next `stir`."""
        self.is_resting = True
        await self._stirred.wait()
