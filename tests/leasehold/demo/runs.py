"""A run that is made up, in which all went as promised."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from leasehold.demo.run import CensusRun
from leasehold.demo.stdlib_census.measures import FileMeasures
from leasehold.records.jobs import JobRecord
from leasehold.records.measures import Failure

START = datetime(2030, 1, 1, tzinfo=UTC)
MEASURES = FileMeasures(lines=3, bytes=10)


def job(job_id: int, kind: str = "measure", **changes: Any) -> JobRecord:
    """It is completed by worker.1 after as many seconds as its id says."""
    given: dict[str, Any] = dict.fromkeys(JobRecord.__struct_fields__)
    given |= {"id": job_id, "state": "completed", "kind": f"census.{kind}", "attempt": 1, "worker_id": "worker.1"}
    given |= {"args": {"file": f"{job_id}.py", "cue": ""} if kind == "measure" else {}, "created_at": START}
    given |= {"started_at": START + timedelta(milliseconds=job_id), "finished_at": START + timedelta(seconds=job_id)}
    return JobRecord(**given | changes)


def failure(job_id: int, attempt: int, worker_id: str, seconds: float) -> Failure:
    """An attempt that failed so many seconds after the start."""
    at = START + timedelta(seconds=seconds)
    return Failure(
        at=at, job_id=job_id, attempt=attempt, kind=None, queue=None, worker_id=worker_id, message=None, is_final=False
    )


def jobs() -> list[JobRecord]:
    """File 2 stumbled twice, and file 3 was taken back from worker.2."""
    again = job(3, attempt=2, started_at=START + timedelta(seconds=6.1), finished_at=START + timedelta(seconds=7))
    return [job(1, "discover"), job(2, attempt=3), again, job(4, "report")]


def run(**changes: Any) -> CensusRun:
    """As promised, but for the changes."""
    given: dict[str, Any] = {
        "name": "5fb2",
        "queue": "demo-5fb2",
        "acknowledged": [1],
        "jobs": jobs(),
        "failures": [failure(2, 1, "worker.2", 0), failure(2, 2, "worker.2", 1), failure(3, 1, "worker.2", 6)],
        "victim": "worker.2",
        "killed_at": START + timedelta(seconds=2),
        "plain": {"2.py": MEASURES, "3.py": MEASURES},
        "reported": {"2.py": MEASURES, "3.py": MEASURES},
    }
    return CensusRun(**given | changes)
