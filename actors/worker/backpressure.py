"""Why a worker claims nothing for now: it was paused, or memory or CPU is short.

Running jobs go on. There is no timer: the dispatcher asks before it claims, and the machine is looked at once a second
at the most.

A worker that runs nothing does not keep the CPU busy. So the CPU alone holds it for one back-off and no longer: other
programs may slow its jobs down, and never stop them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Literal

import msgspec
import psutil

from leasehold.actors.identity import WorkerMode
from leasehold.actors.running.slot import Roster
from leasehold.actors.worker.machine import Load, Meter, Reading, describe_cpu, describe_load, find_strain

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0


class BackpressureLimits(msgspec.Struct, frozen=True):
    """Shares of memory and CPU above which nothing is claimed, 1 for never, and the seconds until the next look."""

    memory: float
    cpu: float
    seconds: float


class BackoffState(msgspec.Struct, frozen=True):
    """The last decision.

    Modes: a *free* worker claims. A *backing off* one does not. An *excused* one backed off for CPU alone and runs nothing: it
    claims until it has run something.

    Attributes:
        reason: why it backs off, in words. since: when that began. until: when to decide again. Both in seconds.
    """

    mode: Literal["free", "backing off", "excused"] = "free"
    reason: str | None = None
    since: float = 0.0
    until: float = 0.0


def decide(
    was: BackoffState, load: Load | None, limits: BackpressureLimits, now: float, *, is_idle: bool
) -> BackoffState:
    """Decide whether the worker claims. `is_idle`: it runs nothing, and has begun nothing since the decision `was`."""
    if now < was.until:
        return was
    if load is None or (reason := find_strain(load, limits.memory, limits.cpu)) is None:
        return BackoffState()
    is_cpu_alone = find_strain(load, limits.memory, 1.0) is None
    if is_cpu_alone and is_idle and was.mode != "free":
        return BackoffState("excused")
    return BackoffState("backing off", reason, was.since if was.mode == "backing off" else now, now + limits.seconds)


class Backpressure:
    """Decides for how long the worker claims nothing.

    It begins to back off when a look finds too much in use. It looks again every `limits.seconds`, until a look finds
    less, or excuses an idle worker (see `decide`). A paused worker may back off as well.

    Args:
        read: what is in use now. May raise OSError and psutil.Error.
        limits: above which it backs off.
        mode: of the worker: a paused one claims nothing.
        roster: of the worker: shows whether it runs anything.
        changed: called when it begins or ends to back off.
        clock: seconds.
    """

    def __init__(
        self,
        read: Callable[[], Reading],
        limits: BackpressureLimits,
        mode: WorkerMode,
        roster: Roster,
        changed: Callable[[], object],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._read = read
        self._limits = limits
        self._mode = mode
        self._roster = roster
        self._changed = changed
        self._clock = clock
        self._meter = Meter()
        self._load: Load | None = None
        self._looked_at = self._judged_at = float("-inf")
        self._state = BackoffState()
        self._begun = 0
        self._is_blind = False
        self._is_off = limits.memory >= 1 and limits.cpu >= 1

    @property
    def reason(self) -> str | None:
        """Why it backs off, in words; None when it does not."""
        return self._state.reason

    def back_off_for(self) -> float:
        """Seconds to claim nothing, then to ask again; 0: claim. Infinite while the worker is paused."""
        now = self._clock()
        # Heartbeats read the load as well, but decide nothing.
        if (
            not self._is_off
            and now >= self._state.until
            and now - self._judged_at >= (LOOK_SECONDS if self.reason is None else 0.0)
        ):
            self._judge(now)
        return float("inf") if self._mode.is_paused else max(0.0, self._state.until - now)

    def load(self) -> Load | None:
        """The load, not older than a second; None where the machine does not tell."""
        now = self._clock()
        if now - self._looked_at >= LOOK_SECONDS:
            self._look(now)
        return self._load

    def seconds_left(self) -> float:
        """Seconds until the next look while it backs off, else 0."""
        return max(0.0, self._state.until - self._clock())

    def _look(self, now: float) -> None:
        self._looked_at = now
        try:
            self._load = self._meter.add(self._read(), now)
        except (OSError, psutil.Error) as error:
            self._load = None
            if not self._is_blind:
                self._is_blind = True
                log.warning("memory and CPU cannot be read, so nothing backs off: %s", error)

    def _judge(self, now: float) -> None:
        self._judged_at = now
        load, was, begun = self.load(), self._state, self._roster.begun
        # Short jobs may begin and end between two looks. A paused worker claims nothing, excused or not.
        is_idle = not (self._roster.is_busy or begun > self._begun or self._mode.is_paused)
        self._begun = begun
        self._state = decide(was, load, self._limits, now, is_idle=is_idle)
        if self._state.mode != was.mode:
            self._log_change(was, load, now)
        if (self.reason is None) != (was.reason is None):
            self._changed()

    def _log_change(self, was: BackoffState, load: Load | None, now: float) -> None:
        match was.mode, self._state.mode:
            case _, "backing off":
                log.warning(
                    "backing off: %s, %g s",
                    self.reason,
                    self._limits.seconds,
                    extra={"memory": _rounded(load and load.memory), "cpu": _rounded(load and load.cpu)},
                )
            case "backing off", "excused":
                cpu = describe_cpu(load).replace("%", " %") if load else "?"
                log.info("claiming all the same: CPU %s, but this worker runs nothing", cpu)
            case "backing off", "free":
                log.info("resuming after %.0f s: %s", now - was.since, describe_load(load) if load else "no reading")
            case _:
                pass


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 3)
