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

    async def audit(self, *, repair: bool = False, grace: float = 60.0, patience: float = AUDIT_SECONDS) -> list[Fault]:
        """Look for jobs in a state that must not be, and for what is overdue. Reads all unfinished jobs, locks nothing.

        Args:
            repair: also put in order what an actor would put in order by itself, each fault in a transaction of its own;
                the job's timeline says so. What only people can decide is left.
            grace: seconds that something may be overdue.
            patience: seconds that looking may take.
        """
        rows = await self._database.call("audit_jobs", timedelta(seconds=grace), timeout=patience)
        found = [Fault(**decoded(row)) for row in rows]
        return [await self.repair(fault) for fault in found] if repair else found

    async def are_few(self) -> bool:
        """Return whether an audit is quick because there are few jobs: some twenty thousand, finished ones included."""
        for table in ("jobs", "finished_jobs"):
            if not await self._database.call_value("is_small", table):
                return False
        return True

    async def repair(self, fault: Fault) -> Fault:
        """Put one finding of `audit` in order, in a transaction of its own. `is_repaired` of the answer tells whether it is
        gone now; what only people can decide stays."""
        done = await self._database.call_value(
            "repair_fault", fault.finding, fault.job_id, fault.subject, fault.explanation
        )
        return msgspec.structs.replace(fault, is_repaired=bool(done))

    async def recover_stale(self, minutes: float) -> int:
        """Take back the jobs whose lease has run out, or whose worker has not renewed it for this time; returns how many.

        Args:
            minutes: more than 0.

        Raises:
            BadInput: minutes out of range.
        """
        return int(str(await self._database.call_value("recover_stale_jobs", minutes)))
