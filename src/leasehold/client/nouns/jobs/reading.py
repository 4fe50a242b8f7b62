"""What is known of one job."""

from __future__ import annotations

from leasehold.asks.ids import checked_id
from leasehold.client.core import Part
from leasehold.database.rows import from_row
from leasehold.errors import UnknownJob
from leasehold.records.chains import BlockerRecord
from leasehold.records.jobs import AttemptError, Explanation, JobProgress, LogLine, TimelineEntry


class JobReading(Part):
    """The part of `client.jobs` that tells about one job."""

    async def explain(self, job_id: int) -> list[Explanation]:
        """Explain why a job is not running, or that it runs or has ended: every reason, the weightiest first.

        Costs the same however long the queue is, and locks nothing.

        Example:
            for reason in await client.jobs.explain(42):
                print(reason.reason, reason.explanation)

        Raises:
            UnknownJob: no job has this id.
        """
        rows = await self._database.call("explain_job", checked_id(job_id))
        return [from_row(Explanation, row) for row in rows]

    async def timeline(self, job_id: int) -> list[TimelineEntry]:
        """Return everything that happened to a job, oldest first.

        Raises:
            UnknownJob: no job has this id.
        """
        rows = await self._database.call("get_job_timeline", checked_id(job_id))
        if not rows:
            raise UnknownJob(f"there is no job {job_id}")
        return [from_row(TimelineEntry, row) for row in rows]

    async def errors(self, job_id: int) -> list[AttemptError]:
        """Return the error of each attempt of a job that failed, oldest first; a retry keeps them all.

        Raises:
            UnknownJob: no job has this id.
        """
        rows = await self._database.call("get_job_errors", checked_id(job_id))
        return [from_row(AttemptError, row) for row in rows]

    async def progress(self, job_id: int) -> JobProgress | None:
        """Return how far a job has come, as its handler last said with `job.progress`; None where it said nothing.

        It stays when the job has ended.

        Raises:
            UnknownJob: no job has this id.
        """
        rows = await self._database.call("get_job_progress", checked_id(job_id))
        if not rows:
            await self._refuse_unknown(job_id)
        return from_row(JobProgress, rows[0]) if rows else None

    async def logs(self, job_id: int, *, attempt: int | None = None) -> list[LogLine]:
        """Return the lines of a job's log, oldest first, at most a thousand.

        A line is there within half a second after it was logged.

        Args:
            job_id: of the job.
            attempt: only the lines of this one.

        Raises:
            UnknownJob: no job has this id.
        """
        rows = await self._database.call("get_job_logs", checked_id(job_id), attempt)
        if not rows:
            await self._refuse_unknown(job_id)
        return [
            LogLine(
                at=row["at"],
                attempt=row["attempt"],
                level=row["level"],
                message=row["message"],
                number=row.get("number", 0),
            )
            for row in rows
        ]

    async def blockers(self, job_id: int) -> list[BlockerRecord]:
        """Return the chains that a job waits or waited for, in the order of its slots."""
        rows = await self._database.call("get_job_blockers", checked_id(job_id))
        return [from_row(BlockerRecord, row) for row in rows]

    async def _refuse_unknown(self, job_id: int) -> None:
        if not await self._database.call("get_job", job_id):
            raise UnknownJob(f"there is no job {job_id}")
