"""Short ways to ask why a job is not running, and what an audit finds."""

from __future__ import annotations

import json
from typing import Any

from leasehold.database import Caller, Row


async def reasons(caller: Caller, job_id: int) -> list[str]:
    """The reasons alone, in their order."""
    return [row["reason"] for row in await caller.call("explain_job", job_id)]


async def because(caller: Caller, job_id: int, reason: str) -> Row:
    """The first row with this reason."""
    return next(row for row in await caller.call("explain_job", job_id) if row["reason"] == reason)


async def facts(caller: Caller, job_id: int, reason: str) -> dict[str, Any]:
    """The facts of the first row with this reason."""
    return json.loads((await because(caller, job_id, reason))["facts"])


async def faults(caller: Caller) -> list[tuple[str, str]]:
    """What an audit finds: (finding, subject)."""
    return [(row["finding"], row["subject"]) for row in await caller.call("audit_jobs")]


async def repaired(caller: Caller) -> dict[tuple[str, str], bool]:
    """What an audit with repair finds, and whether it is repaired."""
    return {(row["finding"], row["subject"]): row["is_repaired"] for row in await caller.call("repair_jobs")}
