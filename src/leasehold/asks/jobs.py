"""What is asked about one job."""

from __future__ import annotations

from leasehold.asks.ask import Ask, Rows, first_text
from leasehold.asks.ids import checked_id
from leasehold.database.calls import from_row
from leasehold.errors import UnknownJob
from leasehold.records.jobs import JobRecord, TimelineEntry


def get_job(job_id: int) -> Ask[JobRecord]:
    """The job. Raises BadInput, UnknownJob."""

    def read(rows: Rows) -> JobRecord:
        if not rows:
            raise UnknownJob(f"there is no job {job_id}")
        return from_row(JobRecord, rows[0])

    return Ask("get_job", (checked_id(job_id),), read)


def get_timeline(job_id: int) -> Ask[list[TimelineEntry]]:
    """What happened to the job, oldest first; nothing where there is no such job. Raises BadInput."""
    return Ask("get_job_timeline", (checked_id(job_id),), lambda rows: [from_row(TimelineEntry, row) for row in rows])


def cancel_job(job_id: int, reason: str | None) -> Ask[str]:
    """The state that the job was in. Raises BadInput, UnknownJob, WrongState."""
    return Ask("cancel_job", (checked_id(job_id), reason), first_text)


def retry_job(job_id: int) -> Ask[str]:
    """The new state of the job. Raises BadInput, UnknownJob, WrongState, UniqueConflict."""
    return Ask("retry_job", (checked_id(job_id),), first_text)
