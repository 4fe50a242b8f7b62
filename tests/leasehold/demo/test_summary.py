from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from leasehold.demo.observer import RecoveredJob, RunJob
from leasehold.demo.stdlib_census.measures import FileMeasures
from leasehold.demo.summary import Findings, judge, pickup_of, span_of

START = datetime(2030, 1, 1, tzinfo=UTC)
MEASURES = FileMeasures(lines=3, bytes=10)


def job(job_id: int, kind: str = "census.measure", **changes: Any) -> RunJob:
    given = RunJob(
        id=job_id,
        state="completed",
        kind=kind,
        attempt=1,
        file=f"{job_id}.py" if kind == "census.measure" else None,
        output=None,
        created_at=START,
        started_at=START + timedelta(milliseconds=job_id),
        finished_at=START + timedelta(seconds=job_id),
    )
    return msgspec.structs.replace(given, **changes)


def findings(**changes: Any) -> Findings:
    """Of a demo in which all went as promised."""
    given = Findings(
        jobs=[job(1, "census.discover"), job(2, attempt=3), job(3), job(4, "census.report")],
        acknowledged=[1],
        retries=2,
        stumbles=2,
        victim="worker.2",
        killed_at=START,
        lease_seconds=4.0,
        recovered=[RecoveredJob(3, START + timedelta(seconds=4.1))],
        plain={"2.py": MEASURES, "3.py": MEASURES},
        reported={"2.py": MEASURES, "3.py": MEASURES},
        ended_badly=[],
    )
    return msgspec.structs.replace(given, **changes)


def broken_promises(found: Findings) -> list[str]:
    return [check.name for check in judge(found) if not check.passed]


def test_a_demo_in_which_all_went_well_keeps_every_promise() -> None:
    assert broken_promises(findings()) == []
    assert findings().recovery.first_seconds == pytest.approx(4.1)


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({"jobs": [job(1, "census.discover"), job(2, attempt=3), job(4, "census.report")]}, "nothing lost"),
        ({"jobs": [*findings().jobs[:3], job(4, "census.report", state="failed")]}, "nothing lost"),
        ({"acknowledged": [1, 9]}, "nothing lost"),
        ({"jobs": [*findings().jobs, job(3)]}, "nothing twice"),
        ({"reported": {"2.py": MEASURES, "3.py": FileMeasures(lines=4, bytes=10)}}, "same totals"),
        ({"reported": {"2.py": MEASURES}}, "same totals"),
        ({"recovered": []}, "killed worker"),
        ({"recovered": [RecoveredJob(3, None)]}, "killed worker"),
        ({"retries": 1}, "failing handler"),
        ({"jobs": [job(1, "census.discover"), job(2), job(3), job(4, "census.report")]}, "failing handler"),
        ({"ended_badly": ["reaper"]}, "orderly end"),
    ],
)
def test_each_promise_can_be_broken(changes: dict[str, Any], broken: str) -> None:
    assert broken_promises(findings(**changes)) == [broken]


def test_a_lost_job_is_counted_once_for_each_way_to_notice_it() -> None:
    assert findings(jobs=[]).lost == 4


def test_pick_up_is_told_of_first_attempts_only() -> None:
    found = pickup_of([job(1), job(3), job(900, attempt=2), job(901, started_at=None)])
    assert (found.jobs, found.p50_ms, found.p99_ms) == (2, 2.0, 2.98)
    assert pickup_of([job(5)]).p99_ms == 5.0
    assert pickup_of([]).jobs == 0


def test_a_run_lasts_from_the_first_enqueue_to_the_last_end() -> None:
    assert span_of([job(1), job(7), job(3)]) == 7.0
    assert span_of([job(1, finished_at=None)]) == 0.0
