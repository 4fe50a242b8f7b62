"""The subscribers of each type of event. Callers look into `subscribed` first, and make no event that nobody wants."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any, TypeVar, cast

from leasehold import validation
from leasehold.events import Event

log = logging.getLogger(__name__)

SLOW_SECONDS = 0.05

E = TypeVar("E", bound=Event)


class Subscription:
    """One subscribed function, with the problems that were logged about it."""

    __slots__ = ("accusations", "function")

    def __init__(self, function: Callable[[Any], object]) -> None:
        self.function = function
        self.accusations: set[str] = set()


class Observers:
    """The functions that are subscribed to events.

    They are called one after the other, on the event loop where the event happened. So they must neither block nor
    wait: a function that has more to do puts the event into its own queue. A function that raises, or takes longer than
    50 ms, is logged the first time; the others are called all the same.

    Attributes:
        subscribed: by the types that have a subscriber; `JobStarted in observers.subscribed` costs next to nothing.
    """

    def __init__(self) -> None:
        self.subscribed: dict[type[Event], tuple[Subscription, ...]] = {}
        self._outer: list[Observers] = []

    def subscribe(self, event_type: type[E], function: Callable[[E], object]) -> Callable[[], None]:
        """Call `function` with each event of this type or of its subtypes. Returns a function that ends this.

        Raises TypeError where `event_type` is no type of event, BadInput where `function` cannot be called.
        """
        if not issubclass(cast("Any", event_type), Event):
            raise TypeError(f"subscribe takes a type of leasehold.events, not {event_type!r}")
        validation.check_function("a subscriber", function)
        subscription = Subscription(function)
        family = list(_family(event_type))
        for each in family:
            self._add(each, subscription)
        return lambda: self._remove(family, subscription)

    def include(self, inner: Observers) -> None:
        """Pass the events that are emitted here to the subscribers of `inner` too, present and future ones."""
        if inner is self or self in inner._outer:
            return
        inner._outer.append(self)
        for event_type, subscriptions in inner.subscribed.items():
            for each in subscriptions:
                self._add(event_type, each)

    def _add(self, event_type: type[Event], subscription: Subscription) -> None:
        known = self.subscribed.get(event_type, ())
        if subscription not in known:
            self.subscribed[event_type] = (*known, subscription)
            for outer in self._outer:
                outer._add(event_type, subscription)

    def _remove(self, family: Sequence[type[Event]], subscription: Subscription) -> None:
        for event_type in family:
            known = self.subscribed.pop(event_type, ())
            if left := tuple(each for each in known if each is not subscription):
                self.subscribed[event_type] = left
            if subscription in known:
                for outer in self._outer:
                    outer._remove([event_type], subscription)

    def emit(self, event: Event) -> None:
        """Call the subscribers of this event. What they raise is logged and not raised, but for KeyboardInterrupt."""
        for subscription in self.subscribed.get(type(event), ()):
            began = monotonic()
            try:
                subscription.function(event)
            except KeyboardInterrupt:
                raise
            except BaseException:
                _accuse(subscription, "raised", event)
            if monotonic() - began > SLOW_SECONDS:
                _accuse(subscription, "held up the loop", event)


def _accuse(subscription: Subscription, what: str, event: Event) -> None:
    if what not in subscription.accusations:
        subscription.accusations.add(what)
        log.warning(
            "a subscriber %s at %s; this is told once: %r",
            what,
            type(event).__name__,
            subscription.function,
            exc_info=what == "raised",
        )


def _family(event_type: type[Event]) -> Iterator[type[Event]]:
    yield event_type
    for below in event_type.__subclasses__():
        yield from _family(below)
