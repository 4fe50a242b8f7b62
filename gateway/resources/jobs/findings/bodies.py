"""The parameters and bodies of `/api/findings…`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import LARGEST_BIGINT
from leasehold.gateway.resources.jobs.bodies import DryRun

Grace = Annotated[float, Meta(ge=0, le=86_400, description="Seconds that something may be overdue.")]
FindingName = Annotated[str, Meta(min_length=1, max_length=100, pattern="^[a-z_]+$")]


class FindingsParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How patient the audit is. `if_small`: it is left out where the tables of jobs are large, and reading them is dear."""

    grace: Grace = 60.0
    if_small: bool = False


class FindingBody(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, what it means, and what helps.

    Attributes:
        finding: its name. subject: a job, kind, schedule or table. job_id: null where it is about none.
        is_repairable: a repair does what `remedy` says; else people decide.
        is_repaired: it is gone now; in a dry run: a repair would try it.
    """

    finding: str
    subject: str
    job_id: int | None
    explanation: str
    meaning: str
    remedy: str
    is_repairable: bool
    is_repaired: bool = False


class FindingsBody(msgspec.Struct, frozen=True, kw_only=True):
    """The findings, up to 1000. `total`: how many there are. `is_left_out`: nothing was read, because the tables are large."""

    total: int
    items: Sequence[FindingBody]
    is_left_out: bool = False


class RepairBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which findings to repair: those of these names, about these jobs; all that can be repaired where neither is given."""

    findings: Annotated[list[FindingName], Meta(max_length=100)] | None = None
    job_ids: Annotated[list[Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]], Meta(max_length=1000)] | None = None
    grace: Grace = 60.0
    dry_run: DryRun = True


class RepairedBody(msgspec.Struct, frozen=True, kw_only=True):
    """What was repaired, or would be. `left`: those that are still there, for people or because somebody has them locked."""

    dry_run: bool
    changed: int
    left: int
    items: Sequence[FindingBody]
