from __future__ import annotations

from leasehold.actors.probes import MOST_KINDS, OTHER, Attempts
from leasehold.events import JobCompleted, JobReleased, JobRetried, JobStarted
from leasehold.observability.metrics import HistogramValue
from leasehold.observability.observers import Observers


def attempt(kind: str) -> dict[str, object]:
    return {"job_id": 1, "attempt": 1, "kind": kind, "queue": "q", "worker_id": "w"}


def test_attempts_are_counted_by_kind_and_end_and_timed_where_they_ran() -> None:
    observers = Observers()
    attempts = Attempts(observers)
    observers.emit(JobStarted(**attempt("a"), waited=0.0))  # pyright: ignore[reportArgumentType]
    observers.emit(JobCompleted(**attempt("a"), ran_for=0.3))  # pyright: ignore[reportArgumentType]
    observers.emit(JobRetried(**attempt("a"), ran_for=0.3, error={}, run_at=None))  # pyright: ignore[reportArgumentType]
    observers.emit(JobReleased(**attempt("a")))  # pyright: ignore[reportArgumentType]
    found = dict(attempts.values())
    assert found["leasehold_worker_jobs_started_total"] == {("a",): 1}
    assert found["leasehold_worker_attempts_total"] == {
        ("a", "completed"): 1,
        ("a", "retried"): 1,
        ("a", "released"): 1,
    }
    histogram = found["leasehold_worker_run_seconds"]["a",]
    assert isinstance(histogram, HistogramValue)
    assert (sum(histogram.counts), histogram.total) == (2, 0.6)


def test_kinds_without_end_are_counted_as_one() -> None:
    observers = Observers()
    attempts = Attempts(observers)
    for number in range(MOST_KINDS + 3):
        observers.emit(JobStarted(**attempt(f"k{number}"), waited=0.0))  # pyright: ignore[reportArgumentType]
    started = dict(attempts.values())["leasehold_worker_jobs_started_total"]
    assert len(started) == MOST_KINDS + 1
    assert started[OTHER,] == 3
