"""What handlers say of their jobs: how far they have come, and lines of log."""

from __future__ import annotations

from leasehold.client.ids import checked_id
from leasehold.client.section import Section
from leasehold.database.rows import from_row
from leasehold.errors import UnknownJob
from leasehold.records.jobs import JobProgress, LogLine


class Progress(Section):
    """The section of the client that listens to handlers."""

    async def progress(self, job_id: int) -> JobProgress | None:
        """How far a job has come, as its handler last said with `job.progress`; None where none said anything.

        What was said last stays when the job has ended. Raises UnknownJob.
        """
        rows = await self._database.call("get_job_progress", checked_id(job_id))
        if not rows:
            await self._refuse_unknown(job_id)
        return from_row(JobProgress, rows[0]) if rows else None

    async def logs(self, job_id: int, *, attempt: int | None = None) -> list[LogLine]:
        """The lines of a job's log, oldest first, a thousand at the most; those of one attempt only if it is given.

        A line is there within half a second after it was logged, and soon after the handler has ended. Raises UnknownJob.
        """
        rows = await self._database.call("get_job_logs", checked_id(job_id), attempt)
        if not rows:
            await self._refuse_unknown(job_id)
        return [from_row(LogLine, row) for row in rows]

    async def _refuse_unknown(self, job_id: int) -> None:
        if not await self._database.call("get_job", job_id):
            raise UnknownJob(f"there is no job {job_id}")
