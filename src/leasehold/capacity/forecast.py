"""What a queue will be like: how long jobs wait with a number of slots, and when a backlog is gone. Pure arithmetic.

The model is M/G/c: jobs come at random, `slots` of them run at once, first come first served. How many have to wait is Erlang's C
formula; how much longer they wait when run times vary more or less than exponential ones is the factor of Allen and Cunneen
(A. O. Allen, Probability, Statistics and Queueing Theory, 2nd edition 1990, section 5.3); the wait of those that wait is taken
to be exponential. A backlog, and a queue that gets more than it can do, are treated as a fluid. docs/capacity.md shows how far
this is from simulations. The SQL functions desired_slots and desired_workers compute the same.
"""

from __future__ import annotations

from math import ceil, exp, inf, log, sqrt

import msgspec

SHARE = 0.95
TOO_MANY_TO_STEP = 100_000.0


class QueueLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What a queue has to do.

    Attributes:
        arrivals_per_second: jobs that come, retries included.
        run_seconds: how long one runs, on the average.
        run_variation: variance of run times by their squared average; 1 for exponential ones, 0 where all take as long.
        backlog: jobs that are ready now.
        held: jobs that run now.
    """

    arrivals_per_second: float
    run_seconds: float
    run_variation: float = 1.0
    backlog: int = 0
    held: int = 0

    @property
    def offered(self) -> float:
        """How many slots would be busy on the average, if there were any number: the least there must be."""
        return self.arrivals_per_second * self.run_seconds

    def times(self, factor: float) -> QueueLoad:
        """The same with this many times the arrivals."""
        return msgspec.structs.replace(self, arrivals_per_second=self.arrivals_per_second * factor)


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """What a load comes to with a number of slots.

    Attributes:
        slots: how many.
        utilisation: share of them that is busy on the long run; 1 or more: they never get through. None without slots.
        waiting_share: share of the jobs that have to wait, on the long run.
        average_wait, p95_wait: seconds, on the long run; None where they never get through.
        next_wait: seconds that a job enqueued now will wait behind the backlog.
        drain_seconds: until the backlog is gone; None where it never is.
        p95_wait_ahead: seconds, over the backlog and all that comes within the horizon; None where there is nothing.
    """

    slots: int
    utilisation: float | None
    waiting_share: float
    average_wait: float | None
    p95_wait: float | None
    next_wait: float | None
    drain_seconds: float | None
    p95_wait_ahead: float | None


def forecast(load: QueueLoad, slots: int, *, horizon: float = 3600.0, share: float = SHARE) -> Forecast:
    """What `load` comes to with `slots` slots over the next `horizon` seconds."""
    waiting = erlang_c(slots, load.offered)
    decay = _decay(load, slots)
    return Forecast(
        slots=slots,
        utilisation=load.offered / slots if slots else None,
        waiting_share=waiting,
        average_wait=waiting / decay if decay > 0 else None,
        p95_wait=_percentile(waiting, decay, share) if decay > 0 else None,
        next_wait=_behind(load, slots) * load.run_seconds / slots if slots else None,
        drain_seconds=_drain(load, slots),
        p95_wait_ahead=_percentile_ahead(load, slots, horizon, share),
    )


def desired_slots(load: QueueLoad, target_wait: float, *, share: float = SHARE) -> int:
    """How many slots keep up with the arrivals and have `share` of the jobs wait no longer than `target_wait` seconds."""
    offered = load.offered
    if offered <= 0:
        return 0
    if offered > TOO_MANY_TO_STEP:
        return ceil(offered + 2 * sqrt(offered))
    slots, blocked = 0, 1.0
    while True:
        slots += 1
        blocked = offered * blocked / (slots + offered * blocked)
        if slots > offered:
            waiting = slots * blocked / (slots - offered * (1 - blocked))
            if waiting * exp(-min(700.0, target_wait * _decay(load, slots))) <= 1 - share:
                return slots


def slots_now(load: QueueLoad, target_wait: float, *, share: float = SHARE) -> int:
    """As `desired_slots`, and enough to start the backlog within `target_wait`: what desired_workers asks for."""
    draining = ceil(load.offered + load.backlog * load.run_seconds / target_wait)
    return max(desired_slots(load, target_wait, share=share), min(draining, load.backlog + load.held))


def erlang_c(slots: int, offered: float) -> float:
    """The share of jobs that find all slots busy; 1 where there are not enough of them."""
    if offered <= 0:
        return 0.0
    if slots <= offered:
        return 1.0
    blocked = 1.0
    for n in range(1, slots + 1):
        blocked = offered * blocked / (n + offered * blocked)
    return slots * blocked / (slots - offered * (1 - blocked))


def _decay(load: QueueLoad, slots: int) -> float:
    """How fast, per second, the share of jobs that wait longer falls off; not positive where slots are too few."""
    if load.run_seconds <= 0:
        return inf
    return (slots - load.offered) / load.run_seconds * 2 / (1 + load.run_variation)


def _percentile(waiting: float, decay: float, share: float) -> float:
    return log(waiting / (1 - share)) / decay if waiting > 1 - share else 0.0


def _behind(load: QueueLoad, slots: int) -> float:
    """How many of the backlog find no free slot."""
    return max(0.0, load.backlog - max(0, slots - load.held))


def _drain(load: QueueLoad, slots: int) -> float | None:
    left = _behind(load, slots)
    if not left:
        return 0.0
    return left * load.run_seconds / (slots - load.offered) if slots > load.offered else None


def _percentile_ahead(load: QueueLoad, slots: int, horizon: float, share: float) -> float | None:
    """The percentile over the backlog, which leaves at a steady pace, and over what comes: first behind it, then as ever."""
    jobs = load.backlog + load.arrivals_per_second * horizon
    if not slots or not jobs:
        return None
    if load.run_seconds <= 0:
        return 0.0
    low, high = 0.0, 1.0
    waiting = erlang_c(slots, load.offered)
    while _longer(load, slots, horizon, high, waiting) > (1 - share) * jobs:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if _longer(load, slots, horizon, middle, waiting) > (1 - share) * jobs:
            low = middle
        else:
            high = middle
    return high


def _longer(load: QueueLoad, slots: int, horizon: float, wait: float, waiting: float) -> float:
    """How many of these jobs wait longer than that. `waiting`: the share that waits at all, on the long run."""
    pace = slots / load.run_seconds
    ahead = _behind(load, slots)
    of_backlog = max(0.0, ahead - wait * pace)
    growth = load.arrivals_per_second - pace
    if growth >= 0:
        reached = (wait * pace - ahead) / growth if growth > 0 else (inf if wait * pace >= ahead else 0.0)
        return of_backlog + load.arrivals_per_second * max(0.0, horizon - max(0.0, reached))
    drained = min(horizon, ahead / -growth)
    behind_it = min(drained, max(0.0, (ahead - wait * pace) / -growth))
    tail = waiting * exp(-min(700.0, wait * _decay(load, slots)))
    return of_backlog + load.arrivals_per_second * (behind_it + (horizon - drained) * tail)
