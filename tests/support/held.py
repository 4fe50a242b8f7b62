"""Held jobs without a database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, cast

from leasehold.actors.attempts.held_job import Backlog, HeldJob
from leasehold.app import FreeKind
from leasehold.database import Row
from leasehold.jobs.job import Job
from leasehold.jobs.kind import CheckedKindOptions, Kind

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


async def answer_with_args(job: Job, args: dict[str, Any]) -> Any:
    return args


def claimed_row(job_id: int = 1, **columns: object) -> Row:
    """What `claim_jobs` answers with for one job."""
    row: dict[str, object] = {
        "job_id": job_id, "attempt": 1, "max_attempts": 20, "kind": "echo", "queue": "default", "key": None,
        "priority": 0, "args": "{}", "metadata": None, "created_at": LONG_AGO, "run_at": LONG_AGO,
        "lease_seconds": 60.0,
    }  # fmt: skip
    return cast("Row", row | columns)


def held_job(
    job_id: int = 1,
    *,
    kind: Kind[..., Any] | None = None,
    claimed_at: float | None = None,
    renew_after: float = 20.0,
    **columns: object,
) -> HeldJob:
    """A job as if it had just been claimed."""
    return HeldJob(
        claimed_row(job_id, **columns),
        kind or free_kind(answer_with_args),
        monotonic() if claimed_at is None else claimed_at,
        renew_after,
    )


def free_kind(function: Callable[..., Any], name: str = "echo") -> Kind[..., Any]:
    """A kind that takes any args."""
    return FreeKind(name, function, None, CheckedKindOptions())


def line_of(*jobs: HeldJob) -> Backlog:
    """A backlog of these jobs that gets no more."""
    backlog = Backlog()
    backlog.extend(list(jobs))
    backlog.close()
    return backlog


class NoTurns:
    """Nobody polls in turns."""

    every = timedelta(minutes=1)

    def turn(self, is_ours: bool) -> None:
        """It is nobody's."""
