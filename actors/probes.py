"""The probes and the metrics of a process of actors: what the probes' thread reads is written here, in the event loop."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from time import monotonic

import trio

from leasehold.actors.running.settler import SettlerStatistics
from leasehold.actors.upkeep.reaper import Reaper
from leasehold.actors.worker.worker import Worker
from leasehold.database import Caller
from leasehold.errors import DatabaseError
from leasehold.events import AttemptEvent, JobCompleted, JobFailed, JobReleased, JobRescheduled, JobRetried, JobStarted
from leasehold.observability.health import Health
from leasehold.observability.metrics import Histogram, Labels, Values, expose, single
from leasehold.observability.observers import Observers
from leasehold.observability.probes import open_probes
from leasehold.settings import Settings

log = logging.getLogger(__name__)

MOST_KINDS = 200
OTHER = "(other)"
OUTCOMES: dict[type[AttemptEvent], str] = {
    JobCompleted: "completed",
    JobFailed: "failed",
    JobRetried: "retried",
    JobRescheduled: "rescheduled",
    JobReleased: "released",
}
BEAT_SECONDS = 0.5
ASK_SECONDS = 2.5
ANSWER_SECONDS = 2.0
STUCK_SECONDS = 90.0  # more than a statement and a back-off take


class Attempts:
    """Counts attempts by kind, from events. A default handler may meet many kinds: beyond 200 they count as one."""

    def __init__(self, observers: Observers) -> None:
        self._kinds: set[str] = set()
        self._started: dict[Labels, float] = {}
        self._ended: dict[Labels, float] = {}
        self._seconds: dict[Labels, Histogram] = {}
        observers.subscribe(JobStarted, self._on_start)
        for event_type in OUTCOMES:
            observers.subscribe(event_type, self._on_end)

    def _on_start(self, event: JobStarted) -> None:
        kind = (self._label(event.kind),)
        self._started[kind] = self._started.get(kind, 0) + 1

    def _on_end(self, event: AttemptEvent) -> None:
        kind = self._label(event.kind)
        labels = (kind, OUTCOMES[type(event)])
        self._ended[labels] = self._ended.get(labels, 0) + 1
        if isinstance(event, JobCompleted | JobFailed | JobRetried):
            self._seconds.setdefault((kind,), Histogram()).add(event.ran_for)

    def _label(self, kind: str) -> str:
        if kind not in self._kinds:
            if len(self._kinds) >= MOST_KINDS:
                return OTHER
            self._kinds.add(kind)
        return kind

    def values(self) -> Iterator[tuple[str, Values]]:
        """For `leasehold.observability.metrics.expose`, from any thread."""
        yield "leasehold_worker_jobs_started_total", dict(self._started)
        yield "leasehold_worker_attempts_total", dict(self._ended)
        yield "leasehold_worker_run_seconds", {labels: each.value() for labels, each in dict(self._seconds).items()}


def actor_values(actors: Sequence[object]) -> Iterator[tuple[str, Values]]:
    """The statistics of the actors as metrics. Any thread may call it."""
    yield "leasehold_build_info", {(version("leasehold"),): 1}
    for actor in actors:
        if isinstance(actor, Worker):
            yield from _worker_values(actor)
        elif isinstance(actor, Reaper):
            yield from _reaper_values(actor)


def _worker_values(worker: Worker) -> Iterator[tuple[str, Values]]:
    parts = worker.parts
    claims, settled, leases = (
        parts.dispatcher.statistics(),
        parts.settler.statistics(),
        parts.keeper.statistics(),
    )
    yield "leasehold_worker_slots_configured", single(parts.mode.slots)
    held = list(parts.holdings.values())
    yield "leasehold_worker_slots_busy", single(sum(each.started is not None and not each.settling for each in held))
    found = claims.claims - claims.empty_claims
    yield "leasehold_worker_claims_total", {("found",): found, ("empty",): claims.empty_claims}
    yield "leasehold_worker_jobs_claimed_total", single(claims.claimed)
    yield "leasehold_worker_jobs_handed_back_total", single(claims.handed_back)
    yield "leasehold_worker_wake_ups_total", single(claims.wake_ups)
    yield "leasehold_worker_wake_ups_lost_total", single(claims.lost_wake_ups)
    yield "leasehold_worker_settle_statements_total", single(settled.statements)
    outcomes = ("completed", "failed", "returned", "refused", "repeated")
    yield "leasehold_worker_outcomes_settled_total", {(each,): getattr(settled, each) for each in outcomes}
    yield "leasehold_worker_outcomes_waiting", single(settled.waiting)
    yield "leasehold_worker_leases_renewed_total", single(leases.renewed)
    yield "leasehold_worker_leases_lost_total", single(leases.lost)
    yield "leasehold_worker_loop_blocked_total", single(leases.loop_blocked)


def _reaper_values(reaper: Reaper) -> Iterator[tuple[str, Values]]:
    counts = reaper.statistics()
    reasons = ("reaped", "expired", "promoted", "unblocked")
    yield "leasehold_reaper_jobs_total", {(reason,): getattr(counts, reason) for reason in reasons}
    yield "leasehold_reaper_rounds_total", single(counts.rounds)


class Watched:
    """An actor that is to make progress: `mark` changes with each round, or is None while there is nothing to do."""

    def __init__(self, name: str, mark: Callable[[], object]) -> None:
        self.name = name
        self._mark = mark
        self._last: object = None
        self._since = monotonic()

    def problem(self, now: float, seconds: float) -> str | None:
        """What is wrong, once it has not moved for more than `seconds`; else None. `now` is on the monotonic clock."""
        mark = self._mark()
        if mark is None or mark != self._last:
            self._last, self._since = mark, now
        stood = now - self._since
        return f"it has not moved for {stood:.0f} s" if stood > seconds else None


class Probes:
    """Keeps the health of this process up to date, and serves it.

    Args:
        actors: of this process.
        connection: for asking whether the database is there.
        is_draining: whether the process ends.
        has_begun: whether the actors run: they begin when the database is there.
    """

    name = "probes"

    def __init__(
        self,
        settings: Settings,
        actors: Sequence[object],
        connection: Caller,
        observers: Observers,
        is_draining: Callable[[], bool],
        has_begun: Callable[[], bool] = lambda: True,
    ) -> None:
        self._settings = settings
        self._actors = actors
        self._workers = [actor for actor in actors if isinstance(actor, Worker)]
        self._connection = connection
        self._is_draining = is_draining
        self._has_begun = has_begun
        self._attempts = Attempts(observers) if self._workers else None
        self._stuck_seconds = max(STUCK_SECONDS, 3 * settings.poll_seconds, 3 * settings.heartbeat_seconds)
        self._watched = [each for actor in actors for each in _watched(actor)]
        self.health = Health(settings.probe_stale_seconds)

    async def run(self) -> None:
        """Serve until cancelled. Raises SettingsError where the address cannot be bound."""
        host, port = self._settings.probe_host, self._settings.probe_port or 0
        with open_probes(host, port, self.health, self._expose) as url:
            log.info("probes answer at %s", url)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._beat)
                nursery.start_soon(self._ask)

    async def _beat(self) -> None:
        while True:
            self.look()
            await trio.sleep(BEAT_SECONDS)

    def look(self) -> None:
        """One beat: look at every actor."""
        health = self.health
        health.is_draining = self._is_draining() or any(each.is_draining for each in self._workers)
        health.has_started = self._has_begun() and all(each.presence.worker_name for each in self._workers)
        now = monotonic()
        watched = [] if health.is_draining or not health.has_started else self._watched
        health.stuck = {each.name: each.problem(now, self._stuck_seconds) for each in watched}
        health.beat()

    async def _ask(self) -> None:
        while True:
            try:
                await self._connection.fetch("select 1", timeout=ANSWER_SECONDS)
                self.health.database_answered()
            except DatabaseError as error:
                self.health.database_failed()
                log.debug("the database does not answer: %s", error)
            await trio.sleep(ASK_SECONDS)

    def _expose(self, accept: str) -> tuple[bytes, str]:
        values = [*actor_values(self._actors), ("leasehold_loop_lag_seconds", single(self.health.lag))]
        if self._attempts is not None:
            values += self._attempts.values()
        return expose(values, accept)


async def answer_idly(settings: Settings) -> None:
    """Have the probes say of a process whose worker was decommissioned that it lives and takes no more work, until cancelled."""
    if settings.probe_port is None:
        return
    health = Health(settings.probe_stale_seconds)
    health.has_started = health.is_draining = True
    health.database_answered()
    with open_probes(
        settings.probe_host, settings.probe_port, health, lambda accept: expose(actor_values([]), accept)
    ) as url:
        log.info("probes answer at %s", url)
        while True:
            health.beat()
            await trio.sleep(BEAT_SECONDS)


def _watched(actor: object) -> list[Watched]:
    if isinstance(actor, Worker):
        settler = actor.parts.settler
        return [
            Watched("dispatcher", lambda: actor.parts.dispatcher.looped_at),
            Watched("settler", lambda: _settled(settler.statistics())),
            Watched("lease keeper", lambda: actor.parts.keeper.looped_at),
        ]
    if isinstance(actor, Reaper):
        return [Watched("reaper", lambda: actor.statistics().rounds)]
    return []


def _settled(counts: SettlerStatistics) -> int | None:
    """How many statements were sent; None where nothing waits to be written."""
    return counts.statements if counts.waiting else None
