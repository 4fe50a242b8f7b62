"""Hands each notice to the functions that subscribed to its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from leasehold.concurrency.signal import Signal
from leasehold.notify.channel import Notice, Reap, TickNotice

N = TypeVar("N", bound=Notice)


class Switchboard:
    """Hands each notice to the subscribers of its type. They are called at once and must not wait or raise.

    Attributes:
        listening: whether a connection hears the channel at present.
        doubted: set when something was not heard that should have been; the listener then looks whether it still hears.
        moved: set when `is_needed` may have changed.
    """

    def __init__(self) -> None:
        self._subscribers: dict[type[Any], list[Callable[[Any], object]]] = {}
        self._everybody: list[Callable[[], object]] = []
        self.listening = False
        self.doubted = Signal()
        self.moved = Signal()
        self._rests = False

    @property
    def is_needed(self) -> bool:
        """Whether the process is to listen: not where it rests, unless a reaper or a scheduler is in it, of which there are few."""
        return not self._rests or Reap in self._subscribers or TickNotice in self._subscribers

    def rest(self, rests: bool) -> None:
        """Whether the worker of this process leaves it to others of its fleet to listen."""
        self._rests = rests
        self.moved.set()

    def subscribe(self, notice: type[N], listener: Callable[[N], object]) -> None:
        """Call `listener` for each notice of this type."""
        self._subscribers.setdefault(notice, []).append(listener)

    def subscribe_reconnect(self, listener: Callable[[], object]) -> None:
        """Call `listener` when notices may have been missed."""
        self._everybody.append(listener)

    def publish(self, notice: Notice) -> None:
        """Call the subscribers of this notice's type."""
        for listener in self._subscribers.get(type(notice), ()):
            listener(notice)

    def publish_reconnect(self) -> None:
        """Tell the subscribers of `subscribe_reconnect` that notices may have been missed."""
        for listener in self._everybody:
            listener()
