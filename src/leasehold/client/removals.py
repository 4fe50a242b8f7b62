"""Removing jobs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from leasehold.client.dead_letters import all_pages
from leasehold.client.ids import checked_id
from leasehold.client.section import Section
from leasehold.database import Row
from leasehold.records.jobs import ChangedJob


class Removals(Section):
    """The section of the client that removes jobs, whose time has not come yet or is over."""

    async def delete(self, job_id: int, *, connection: Any = None) -> str:
        """Remove a job that nobody holds; one event `deleted` remains in its timeline. Returns the state it was in.
        `connection` as in `enqueue`.

        Raises:
            UnknownJob: no job has this id.
            WrongState: a worker holds it (cancel it first), it is one of several jobs of a chain (see `delete_chain`), or a
                job waits for it.
        """
        return str(await self._caller(connection).call_value("delete_job", checked_id(job_id)))

    async def delete_jobs(
        self,
        *,
        state: str | None = None,
        queue: str | None = None,
        kind: str | None = None,
        key: str | None = None,
        error_type: str | None = None,
        created_before: datetime | None = None,
        finished_before: datetime | None = None,
        job_ids: Sequence[int] | None = None,
        limit: int | None = None,
        dry_run: bool = True,
    ) -> list[ChangedJob]:
        """Remove all jobs that match and that nobody holds, each as `delete` does.

        A thousand at a time, each thousand in a transaction of its own.

        Args:
            state: only in this one.
            queue, kind, key, created_before, finished_before: only such.
            error_type: only those whose last attempt failed with such an error.
            job_ids: only these; each of them is answered, with the reason where nothing was done.
            limit: at most so many, oldest id first.
            dry_run: only tell what would be done.

        Raises:
            BadInput: the state is unknown, or one in which a worker holds the job.
        """

        async def page(ids: list[int] | None, after_id: int | None, batch: int) -> list[Row]:
            values = (state, queue, kind, key, error_type, created_before, finished_before)
            return await self._database.call("delete_jobs", *values, ids, after_id, batch, dry_run)

        return await all_pages(page, job_ids, limit)
