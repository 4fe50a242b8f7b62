"""What the actors of this process did, as metrics: from their statistics, and for kinds from events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version

from leasehold.actors.upkeep.reaper import Reaper
from leasehold.actors.worker.worker import Worker
from leasehold.events import AttemptEvent, JobCompleted, JobFailed, JobReleased, JobRescheduled, JobRetried, JobStarted
from leasehold.observability.metrics import Histogram, Labels, Values, single
from leasehold.observability.observers import Observers

MOST_KINDS = 200
OTHER = "(other)"
OUTCOMES: dict[type[AttemptEvent], str] = {
    JobCompleted: "completed",
    JobFailed: "failed",
    JobRetried: "retried",
    JobRescheduled: "rescheduled",
    JobReleased: "released",
}


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
