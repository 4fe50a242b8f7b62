"""Putting jobs in order."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from leasehold.client.core import Part
from leasehold.database.rows import decoded
from leasehold.records.jobs import Fault

AUDIT_SECONDS = 3600.0  # an audit reads whole tables


class JobUpkeep(Part):
    """The part of `client.jobs` that puts jobs in order."""

    async def audit(self, *, repair: bool = False, grace: float = 60.0) -> list[Fault]:
        """Look for jobs in a state that must not be, and for what is overdue. Reads all unfinished jobs, locks nothing.

        Args:
            repair: also put in order what an actor would put in order by itself, each fault in a transaction of its own;
                the job's timeline says so. What only people can decide is left.
            grace: seconds that something may be overdue.
        """
        rows = await self._database.call("audit_jobs", timedelta(seconds=grace), timeout=AUDIT_SECONDS)
        found = [Fault(**decoded(row)) for row in rows]
        return [await self._repaired(fault) for fault in found] if repair else found

    async def recover_stale(self, minutes: float) -> int:
        """Take back the jobs whose lease has run out, or whose worker has not renewed it for this time; returns how many.

        Args:
            minutes: more than 0.

        Raises:
            BadInput: minutes out of range.
        """
        return int(str(await self._database.call_value("recover_stale_jobs", minutes)))

    async def _repaired(self, fault: Fault) -> Fault:
        done = await self._database.call_value(
            "repair_fault", fault.finding, fault.job_id, fault.subject, fault.explanation
        )
        return msgspec.structs.replace(fault, is_repaired=bool(done))
