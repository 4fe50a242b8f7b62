"""Who listens for which event. Nothing is made where nobody does: callers look into `heard` first."""

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
    """One function, with what it has been accused of."""

    __slots__ = ("accusations", "function")

    def __init__(self, function: Callable[[Any], object]) -> None:
        self.function = function
        self.accusations: set[str] = set()


class Observers:
    """Functions by the event they want.

    They are called one after the other on the event loop that the event happened on, so they must neither block nor wait:
    put the event into a queue of your own where more is to be done. One that raises, or takes longer than 50 ms, is logged
    the first time and harms nobody.

    Attributes:
        heard: the types that have a listener; `JobStarted in observers.heard` costs next to nothing.
    """

    def __init__(self) -> None:
        self.heard: dict[type[Event], tuple[Subscription, ...]] = {}
        self._outer: list[Observers] = []

    def subscribe(self, event_type: type[E], function: Callable[[E], object]) -> Callable[[], None]:
        """Call `function` with each event of this type, or of the types below it; returns what ends that again."""
        if not issubclass(cast("Any", event_type), Event):
            raise TypeError(f"subscribe takes a type of leasehold.events, not {event_type!r}")
        validation.check_function("a subscriber", function)
        subscription = Subscription(function)
        family = list(_family(event_type))
        for each in family:
            self._add(each, subscription)
        return lambda: self._remove(family, subscription)

    def include(self, inner: Observers) -> None:
        """Tell the observers of `inner` too, now and those to come."""
        if inner is self or self in inner._outer:
            return
        inner._outer.append(self)
        for event_type, subscriptions in inner.heard.items():
            for each in subscriptions:
                self._add(event_type, each)

    def _add(self, event_type: type[Event], subscription: Subscription) -> None:
        known = self.heard.get(event_type, ())
        if subscription not in known:
            self.heard[event_type] = (*known, subscription)
            for outer in self._outer:
                outer._add(event_type, subscription)

    def _remove(self, family: Sequence[type[Event]], subscription: Subscription) -> None:
        for event_type in family:
            known = self.heard.pop(event_type, ())
            if left := tuple(each for each in known if each is not subscription):
                self.heard[event_type] = left
            if subscription in known:
                for outer in self._outer:
                    outer._remove([event_type], subscription)

    def emit(self, event: Event) -> None:
        """Tell everybody who wants to know. Never raises what they raise."""
        for subscription in self.heard.get(type(event), ()):
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
