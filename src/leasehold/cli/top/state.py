"""What `leasehold top` knows: the last look at the database, and a minute of rates before it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from leasehold.client import Client
from leasehold.records.jobs import UNFINISHED
from leasehold.records.measures import Failure, FleetMeasures, QueueThroughput, Throughput
from leasehold.records.workers import WorkerRecord

HISTORY = 60
FAILURES = 200
FIRST_FAILURES = timedelta(minutes=1)
NOTHING = QueueThroughput(queue="", arrived=0, completed=0, failed=0, cancelled=0)


class QueueLine(msgspec.Struct, frozen=True, kw_only=True):
    """One queue: unfinished jobs by state, rates of the last look per second, the age of its oldest ready job in seconds,
    how many ended per second before, oldest first, and the kinds with ready jobs that no live worker serves.
    `is_partial`: there may be more ready jobs."""

    queue: str
    jobs: dict[str, int]
    arrived: float
    ended: float
    failed: float
    oldest: float | None
    history: tuple[float, ...] = ()
    unserved_kinds: tuple[str, ...] = ()
    is_partial: bool = False


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """One look at everything.

    Attributes:
        at: by the database's clock. seconds: since the look before.
        queues: those with most to do first. failures: latest first.
    """

    at: datetime
    seconds: float
    fleet: FleetMeasures
    queues: list[QueueLine]
    workers: list[WorkerRecord]
    failures: list[Failure]

    @property
    def arrived(self) -> float:
        """Jobs per second, of all queues."""
        return sum(line.arrived for line in self.queues)

    @property
    def ended(self) -> float:
        """Jobs per second, of all queues."""
        return sum(line.ended for line in self.queues)

    def count(self, *states: str) -> int:
        """Jobs in these states, of all queues."""
        return sum(line.jobs.get(state, 0) for line in self.queues for state in states)


class Watch:
    """Looks again and again, and remembers what it needs for rates."""

    def __init__(self) -> None:
        self._flow: Throughput | None = None
        self._history: dict[str, deque[float]] = {}
        self._failures: list[Failure] = []

    async def begin(self, client: Client, now: datetime) -> None:
        """Take a first look, from which the next one counts. `now`: of the database. Raises DatabaseUnavailable."""
        self._flow = await client.metrics.throughput(now)
        self._failures = await client.metrics.failures(now - FIRST_FAILURES, FAILURES)

    async def look(self, client: Client) -> Look:
        """Look once: seven small questions. Raises DatabaseUnavailable."""
        before = self._flow
        assert before is not None
        flow = await client.metrics.throughput(before.at, before.newest_id)
        failures = await client.metrics.failures(before.at, FAILURES)
        depths, oldest = await client.metrics.counts(), await client.metrics.oldest_ready()
        fleet, workers = await client.metrics.fleet(), await client.workers.list()
        unclaimed = await client.metrics.unclaimed_kinds(1)
        self._flow = flow
        known = {(each.job_id, each.attempt, each.at) for each in self._failures}
        fresh = [each for each in failures if (each.job_id, each.attempt, each.at) not in known]
        self._failures = [*fresh, *self._failures][:FAILURES]
        seconds = max((flow.at - before.at).total_seconds(), 0.001)
        jobs: dict[str, dict[str, int]] = {}
        partial = {each.queue for each in depths if each.is_partial}
        for each in depths:
            if each.state in UNFINISHED:
                jobs.setdefault(each.queue, {})[each.state] = each.jobs
        ages = {each.queue: each.waits_for for each in oldest}
        unserved: dict[str, list[str]] = {}
        for each in unclaimed:
            if each.reason == "unserved":
                unserved.setdefault(each.queue, []).append(each.kind)
        lines = self._lines(jobs, {each.queue: each for each in flow.queues}, ages, seconds)
        lines = [
            msgspec.structs.replace(
                line, unserved_kinds=tuple(unserved.get(line.queue, ())), is_partial=line.queue in partial
            )
            for line in lines
        ]
        return Look(
            at=flow.at, seconds=seconds, fleet=fleet, queues=lines, workers=workers, failures=list(self._failures)
        )

    def _lines(
        self, jobs: dict[str, dict[str, int]], flow: dict[str, QueueThroughput], ages: dict[str, float], seconds: float
    ) -> list[QueueLine]:
        lines = [
            self._line(queue, jobs.get(queue, {}), flow.get(queue, NOTHING), ages.get(queue), seconds)
            for queue in {*jobs, *flow, *ages, *self._history}
        ]
        self._history = {line.queue: deque(line.history, HISTORY) for line in lines if line.jobs or any(line.history)}
        return sorted(lines, key=lambda line: (-line.ended, -sum(line.jobs.values()), line.queue))

    def _line(
        self, queue: str, jobs: dict[str, int], flow: QueueThroughput, oldest: float | None, seconds: float
    ) -> QueueLine:
        ended = (flow.completed + flow.failed + flow.cancelled) / seconds
        history = self._history.get(queue, deque[float](maxlen=HISTORY))
        history.append(ended)
        return QueueLine(
            queue=queue,
            jobs=jobs,
            arrived=flow.arrived / seconds,
            ended=ended,
            failed=flow.failed / seconds,
            oldest=None if oldest is None else max(oldest, 0.0),
            history=tuple(history),
        )


def sparkline(values: Sequence[float], width: int) -> str:
    """The last values as bars, the highest of them full: `▁▂▅█`."""
    shown = list(values)[-width:]
    top = max(shown, default=0.0)
    if top <= 0:
        return "▁" * len(shown)
    return "".join("▁▂▃▄▅▆▇█"[min(7, round(value / top * 7))] for value in shown)
