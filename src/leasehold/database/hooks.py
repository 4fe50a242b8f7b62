"""What leaves only after the commit: wake-ups, events, spans. Collected while a transaction is open, thrown away with it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from inspect import isawaitable
from typing import Any, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")
Flush = Callable[[list[Any]], object]
Mark = dict[Hashable, int]


class Hooks:
    """Effects that wait for a commit, in one buffer for each key.

    After the commit the function of each key is called once, with all items of the key in order; it may be async, in the
    flavour of the owner. By then the commit cannot be undone, so what a function raises is logged and changes nothing.
    A process that dies between the commit and the flush flushes nothing: keep here what something else makes good, as
    polling does for wake-ups.
    """

    __slots__ = ("_buffers",)

    def __init__(self) -> None:
        self._buffers: dict[Hashable, tuple[Flush, list[Any]]] = {}

    def __len__(self) -> int:
        return sum(len(items) for _, items in self._buffers.values())

    def add(self, key: Hashable, item: T, flush: Callable[[list[T]], object], *, once: bool = False) -> None:
        """Have `flush` called with `item`, and whatever else is added under `key`, after the commit.

        Args:
            key: what belongs together; the function of its first item counts.
            item: anything.
            flush: takes the items.
            once: an item equal to one that is there already adds nothing.
        """
        _, items = self._buffers.setdefault(key, (flush, []))
        if not (once and item in items):
            items.append(item)

    def after_commit(self, function: Callable[[], object]) -> None:
        """Have `function` called after the commit, after those given before."""
        self.add("after commit", function, _call_each)

    def mark(self) -> Mark:
        """Where all buffers stand now, for `roll_back`."""
        return {key: len(items) for key, (_, items) in self._buffers.items()}

    def roll_back(self, mark: Mark) -> None:
        """Forget what was added since `mark`: a savepoint was rolled back."""
        for key, (_, items) in list(self._buffers.items()):
            del items[mark.get(key, 0) :]
            if not items:
                del self._buffers[key]

    def discard(self) -> None:
        """Forget everything: the transaction was rolled back."""
        self._buffers.clear()

    async def flush(self) -> None:
        """Let everything out, key by key: the transaction was committed. Raises nothing but cancellation."""
        buffers, self._buffers = self._buffers, {}
        for key, (function, items) in buffers.items():
            try:
                left = function(items)
                if isawaitable(left):
                    await left
            except Exception:
                log.exception("an effect that waited for a commit failed: %s", key)


async def _call_each(functions: list[Callable[[], object]]) -> None:
    for function in functions:
        try:
            left = function()
            if isawaitable(left):
                await left
        except Exception:
            log.exception("a function that waited for a commit failed: %r", function)
