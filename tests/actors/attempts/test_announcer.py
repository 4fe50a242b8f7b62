"""What an announcer says, without a worker. `tests/actors/worker/test_events.py` has a worker's events."""

from __future__ import annotations

from typing import Any, cast

from leasehold.actors.attempts.announcer import SILENT, Announcer
from leasehold.actors.attempts.outcome import Completed, Continued, Failed
from leasehold.actors.identity import WorkerIdentity
from leasehold.database import Row
from leasehold.events import (
    ChainCreated,
    Event,
    JobCompleted,
    JobCreated,
    JobFailed,
    JobLeaseLost,
    JobRetried,
)
from leasehold.observability.observers import Observers
from tests.support.held import LONG_AGO, held_job


def announcing(event_type: type[Event] = Event) -> tuple[Announcer, list[Event]]:
    """An announcer, and what subscribers of a type hear of it."""
    observers, heard = Observers(), list[Event]()
    observers.subscribe(event_type, heard.append)
    return Announcer(observers, WorkerIdentity("w1")), heard


def row(**columns: Any) -> Row:
    return cast("Row", columns)


def test_an_announcer_that_nobody_hears_says_nothing() -> None:
    SILENT.claimed([held_job()], False)
    SILENT.completed([Completed(held_job(), None)], [])
    SILENT.lost(held_job())


def test_refused_outcomes_are_not_announced() -> None:
    announcer, heard = announcing(JobCompleted)
    announcer.completed([Completed(held_job(1), None), Completed(held_job(2), None)], [row(job_id=2)])
    assert [cast("JobCompleted", event).job_id for event in heard] == [1]


def test_a_continuation_announces_its_completion_first_and_then_the_jobs_it_made() -> None:
    announcer, heard = announcing()
    continuation = '{"jobs": [{"kind": "fetch"}], "next": {"kind": "ship", "queue": "mail"}}'
    announcer.continued([(Continued(held_job(), continuation, None, has_next=True), [11, 12])])
    assert [type(event) for event in heard] == [JobCompleted, ChainCreated, JobCreated, JobCreated]
    assert [event.job_id for event in heard if isinstance(event, JobCreated)] == [11, 12]


def test_a_failed_attempt_is_announced_as_what_became_of_its_job() -> None:
    announcer, heard = announcing()
    outcomes = [Failed(held_job(number), {"type": "E", "message": "no"}) for number in (1, 2, 3, 4)]
    rows = {
        1: row(job_id=1, outcome="failed", run_at=None),
        2: row(job_id=2, outcome="retried", run_at=LONG_AGO),
        3: row(job_id=3, outcome="refused", run_at=None),
    }
    announcer.failed(outcomes, rows, ())
    assert [type(event) for event in heard] == [JobFailed, JobRetried]


def test_a_lost_lease_is_announced_with_its_reason() -> None:
    announcer, heard = announcing(JobLeaseLost)
    held = held_job()
    announcer.lost(held)
    assert heard == []
    held.lose("taken_by_another_worker")
    announcer.lost(held)
    assert [cast("JobLeaseLost", event).reason for event in heard] == ["taken_by_another_worker"]
