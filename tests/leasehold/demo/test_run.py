from __future__ import annotations

import pytest

from leasehold.demo.run import pickup_of, span_of
from tests.leasehold.demo.runs import failure, job, jobs, run


def test_recovery_is_counted_from_the_kill() -> None:
    assert run().recovery.first_seconds == run().recovery.last_seconds == pytest.approx(4.1)
    assert run().recovery.jobs == 1
    assert run(killed_at=None).recovery.jobs == 0


def test_what_the_dead_worker_left_is_taken_back_and_everything_else_is_a_retry() -> None:
    late = failure(2, 3, "worker.1", 6)
    assert run(failures=[*run().failures, late]).taken_back == {3: 1}
    assert run(failures=[*run().failures, late]).retries == 3


def test_a_lost_job_is_counted_once_for_each_way_to_notice_it() -> None:
    assert run().lost == 0
    assert run(jobs=[]).lost == 4


def test_the_worker_to_kill_runs_the_most_jobs_that_wait_for_the_cue() -> None:
    def running(job_id: int, worker: str, cue: str) -> object:
        return job(job_id, state="running", worker_id=worker, args={"cue": cue})

    slow = [running(5, "worker.1", "/cue"), running(6, "worker.2", "/cue"), running(7, "worker.2", "/cue")]
    quick = [running(number, "worker.3", "") for number in (8, 9, 10)]
    assert run(jobs=[*slow, *quick]).busy_worker() == "worker.2"
    assert run(jobs=[*jobs(), *quick]).busy_worker() is None


def test_pick_up_is_told_of_first_attempts_only() -> None:
    found = pickup_of([job(1), job(3), job(900, attempt=2), job(901, started_at=None)])
    assert (found.jobs, found.p50_ms, found.p99_ms) == (2, 2.0, 2.98)
    assert pickup_of([job(5)]).p99_ms == 5.0
    assert pickup_of([]).jobs == 0


def test_a_run_lasts_from_the_first_enqueue_to_the_last_end() -> None:
    assert span_of([job(1), job(7), job(3)]) == 7.0
    assert span_of([job(1, finished_at=None)]) == 0.0
