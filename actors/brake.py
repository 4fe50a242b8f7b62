"""Why a worker claims nothing for now: it was paused, or memory or CPU is short.

What runs goes on. There is no timer: whoever is about to claim asks, and the machine is looked at once a second at the most.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Protocol

import msgspec
import psutil

from leasehold.actors.resources import Load, Meter, Reading, describe_load, find_strain

log = logging.getLogger("leasehold.worker")

LOOK_SECONDS = 1.0


class Readable(Protocol):
    """Something that reads resources."""

    def read(self) -> Reading:
        """What is in use now."""
        ...


class BrakeLimits(msgspec.Struct, frozen=True):
    """Shares of memory and CPU above which nothing is claimed, 1 for never, and how long until the next look."""

    memory: float
    cpu: float
    seconds: float


class Brake:
    """Held while the worker is to claim nothing.

    Modes: *free*; *paused* between `pause` and `resume`; *backing off* from the look that finds too much in use to one, every
    `limits.seconds`, that does not. Paused and backing off may come together.

    Attributes:
        reason: why it backs off, in words; None when it does not.
        changed: called when it begins or ends to.
    """

    def __init__(self, resources: Readable, limits: BrakeLimits, clock: Callable[[], float] = monotonic) -> None:
        self._resources = resources
        self._limits = limits
        self._clock = clock
        self._meter = Meter()
        self._load: Load | None = None
        self._looked_at = self._judged_at = float("-inf")
        self._since = 0.0
        self._until = 0.0
        self._is_blind = False
        self._is_off = limits.memory >= 1 and limits.cpu >= 1
        self.reason: str | None = None
        self.paused = False
        self.changed: Callable[[], object] = bool

    def hold_for(self) -> float:
        """Seconds to claim nothing, then to ask again; 0: claim."""
        now = self._clock()
        # Heartbeats look as well, and do not judge.
        if (
            not self._is_off
            and now >= self._until
            and now - self._judged_at >= (LOOK_SECONDS if self.reason is None else 0.0)
        ):
            self._judge(now)
        return float("inf") if self.paused else max(0.0, self._until - now) if self.reason else 0.0

    def load(self) -> Load | None:
        """The load, not older than a second; None where the machine does not tell."""
        now = self._clock()
        if now - self._looked_at >= LOOK_SECONDS:
            self._look(now)
        return self._load

    def seconds_left(self) -> float:
        """Until the next look, while it backs off."""
        return max(0.0, self._until - self._clock())

    def _look(self, now: float) -> None:
        self._looked_at = now
        try:
            self._load = self._meter.add(self._resources.read(), now)
        except (OSError, psutil.Error) as error:
            self._load = None
            if not self._is_blind:
                self._is_blind = True
                log.warning("memory and CPU cannot be read, so nothing backs off: %s", error)

    def _judge(self, now: float) -> None:
        self._judged_at = now
        limits, load, was = self._limits, self.load(), self.reason
        self.reason = None if load is None else find_strain(load, limits.memory, limits.cpu)
        if self.reason is not None:
            self._until = now + limits.seconds
        if self.reason is not None and was is None:
            self._since = now
            log.warning(
                "backing off: %s, %g s", self.reason, limits.seconds,
                extra={"memory": _rounded(load and load.memory), "cpu": _rounded(load and load.cpu)},
            )  # fmt: skip
        elif self.reason is None and was is not None:
            log.info("resuming after %.0f s: %s", now - self._since, describe_load(load) if load else "no reading")
        if (self.reason is None) != (was is None):
            self.changed()


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 3)
