"""How often an idle worker polls, and one statement for all that it asks: whether there is work, and what others ask anyway.

An idle worker polls. Who asks the database something at times, rides on the poll when it comes just before its time, and
so needs no statement of its own. Who has had no ride for long, because the worker is busy, asks alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Protocol

import trio

from leasehold.actors.epochs import LOOK_SECONDS, STANDBY, EpochWatch
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.leases.sweeper import LeaseSweeper
from leasehold.database import Caller, Row
from leasehold.errors import DatabaseUnavailable

FIRST_POLL_SECONDS = 0.020
LONGER = 4
MOST_POLLERS = 32
ASLEEP_AFTER = 600.0
"""Seconds without a job after which a worker of a large fleet polls and beats more rarely."""
ASLEEP_HEARTBEAT = 60.0


def poll_of_each(poll: float, workers: int, heartbeat: float) -> float:
    """Seconds between the polls of each of so many idle workers. Together they poll no more often than 32, as long as
    each does so just before its heartbeat is due, which then rides along."""
    return max(poll, min(poll * workers / MOST_POLLERS, 0.9 * heartbeat))


def asleep_heartbeat(heartbeat: float) -> float:
    """Seconds between the heartbeats of a worker that is asleep: twice as many, up to a minute. Probes and wake-ups count on it."""
    return max(heartbeat, min(2 * heartbeat, ASLEEP_HEARTBEAT))


class PollDecay:
    """How long to wait before looking again: some milliseconds after activity, four times as long after each look, up to the
    poll interval.

    So a job whose wake-up was lost while we were busy waits a few times as long as the transaction that enqueued it took, and
    a worker with fifteen jobs a second polls once for each.

    Args:
        longest: the poll interval; until `share` says otherwise also of a worker that had no job for ten minutes.
        draw: a random number below one.
        clock: seconds.
    """

    def __init__(
        self, longest: float, draw: Callable[[], float] = random.random, clock: Callable[[], float] = monotonic
    ) -> None:
        self._awake = self._asleep = longest
        self._draw = draw
        self._clock = clock
        self._active_at = clock()
        self._next = FIRST_POLL_SECONDS

    @property
    def is_asleep(self) -> bool:
        """Whether polls are rarer than those of the rest of the fleet, after ten minutes without a job."""
        return self._asleep > self._awake and self._clock() >= self._active_at + ASLEEP_AFTER

    @property
    def longest(self) -> float:
        """The present poll interval."""
        return self._asleep if self.is_asleep else self._awake

    def share(self, poll: float, workers: int, heartbeat: float) -> None:
        """So many idle workers poll in turns. Who had no job for long has longer between heartbeats to do so."""
        self._awake = poll_of_each(poll, workers, heartbeat)
        self._asleep = poll_of_each(poll, workers, asleep_heartbeat(heartbeat))

    def reset(self, *, later: bool = False) -> None:
        """There was a job. `later`: leave out the first look."""
        self.hurry(later=later)
        self._active_at = self._clock()

    def hurry(self, *, later: bool = False) -> None:
        """There may be a job soon."""
        self._next = FIRST_POLL_SECONDS * (LONGER if later else 1)

    def wait(self) -> float:
        """Seconds until the next look; each call without activity makes it four times as long. Jittered by a tenth, at the end
        by a fiftieth: polls that come too soon are statements for nothing, and a fiftieth of each poll scatters a fleet as well.
        """
        longest = self.longest
        current = min(self._next, longest)
        jitter = 0.1 if current < longest else 0.02
        self._next = min(longest, self._next * LONGER)
        return current * (1 - jitter + jitter * self._draw())


class Rides(Protocol):
    """Asks something along with a poll."""

    def ask(self, poll: PollDecay) -> Mapping[str, object]:
        """Its parameters of `look_for_work`; none where it need not ask before the next poll."""
        ...

    def take_answer(self, row: Row) -> None:
        """The answer to what it asked. It must not wait. May raise what sends the dispatcher to its supervisor."""
        ...


class SharedPoll:
    """Asks over the connection of the dispatcher.

    Args:
        connection: where the claims are made.
        identity: of the worker.
        poll: how long an idle worker waits until its next one.
        sweeper: asks for its turn at each poll.
    """

    def __init__(self, connection: Caller, identity: WorkerIdentity, poll: PollDecay, sweeper: LeaseSweeper) -> None:
        self._connection = connection
        self._identity = identity
        self._poll = poll
        self._sweeper = sweeper
        self._riders: list[Rides] = []

    def carry(self, rider: Rides) -> None:
        """Take this one along from now on."""
        self._riders.append(rider)

    async def ask(self) -> object:
        """Seconds until a claim may find something, as `next_claim_in`. Raises DatabaseUnavailable and EpochOver."""
        queues = list(self._identity.queues)
        asked = [(rider, rider.ask(self._poll)) for rider in self._riders]
        asked = [(rider, params) for rider, params in asked if params]
        riding: dict[str, Any] = {"incarnation": self._identity.incarnation}
        riding |= {name: value for _, params in asked for name, value in params.items()}
        [row] = await self._connection.call("look_for_work", queues, self._sweeper.every, **riding)
        for rider, _ in asked:
            rider.take_answer(row)
        self._sweeper.turn(bool(row["is_reap_turn"] and row.get("has_expired", True)))
        return row["next_claim_in"]


def is_due(age: float, period: float, next_in: float) -> bool:
    """Whether what was asked `age` seconds ago and is due each `period` cannot wait for the poll in `next_in` seconds.

    A fifth more, since polls come late now and then.
    """
    return age + 1.2 * next_in >= period


class EpochRider:
    """Rides for the watch of the process."""

    def __init__(self, watch: EpochWatch) -> None:
        self._watch = watch

    def ask(self, poll: PollDecay) -> Mapping[str, object]:
        """The epoch that the process is in and its last position, where it is time to ask."""
        watch, next_in = self._watch, poll.longest
        watch.rides_by = trio.current_time() + 1.2 * next_in
        if watch.epoch is None or not is_due(trio.current_time() - watch.asked_at, LOOK_SECONDS, next_in):
            return {}
        return {"known": watch.epoch, "seen": watch.position}

    def take_answer(self, row: Row) -> None:
        """What the database has told. Raises EpochOver if the process has to move to another epoch first, and DatabaseUnavailable
        where the connection leads to a standby."""
        if "epoch" not in row:
            return  # a database of the release before
        if row["epoch"] is None:
            raise DatabaseUnavailable(STANDBY)
        self._watch.found(row["epoch"], row["position"], self._watch.notice)
        self._watch.asked_at = trio.current_time()
