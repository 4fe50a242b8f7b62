"""An event that can be set again and again: waking twice is waking once."""

from __future__ import annotations

import trio


class Signal:
    """Set from anywhere in the trio thread; one waiter at a time clears it by waking up."""

    def __init__(self) -> None:
        self._event = trio.Event()

    def set(self) -> None:
        """Wake the waiter, now or when it comes."""
        self._event.set()

    async def wait(self, timeout: float = float("inf")) -> bool:
        """Wait until set, at most `timeout` seconds; returns whether it was set. A checkpoint."""
        with trio.move_on_after(timeout):
            await self._event.wait()
        was_set = self._event.is_set()
        self._event = trio.Event()
        return was_set
