"""Asking why a job is not running, and whether all is in order."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from leasehold.client.ids import checked_id
from leasehold.client.section import Section
from leasehold.database.rows import from_row
from leasehold.records.jobs import Explanation, Fault

# An audit reads whole tables.
AUDIT_SECONDS = 3600.0


class Diagnosis(Section):
    """The section of the client that explains."""

    async def explain(self, job_id: int) -> list[Explanation]:
        """Why a job is not running (or that it does, or has ended): every reason there is, the weightiest first.

        Costs the same however long the queue is, and locks nothing. Raises UnknownJob.
        """
        rows = await self._database.call("explain_job", checked_id(job_id))
        return [from_row(Explanation, row) for row in rows]

    async def audit(self, *, repair: bool = False, grace: float = 60.0) -> list[Fault]:
        """Look for what should never be, or has been overdue for more than `grace` seconds.

        Looking reads all unfinished jobs and locks nothing. With `repair`, what an actor would have put in order by itself
        is, each fault in a transaction of its own, and the job's timeline says so; what only people can decide is left.
        """
        rows = await self._database.call("audit_jobs", False, timedelta(seconds=grace), timeout=AUDIT_SECONDS)
        found = [from_row(Fault, row) for row in rows]
        return [await self._repaired(fault) for fault in found] if repair else found

    async def _repaired(self, fault: Fault) -> Fault:
        done = await self._database.call_value(
            "repair_fault", fault.finding, fault.job_id, fault.subject, fault.explanation
        )
        return msgspec.structs.replace(fault, is_repaired=bool(done))
