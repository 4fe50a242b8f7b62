"""`/api/findings…` and `/api/doctor`: what is out of order, and its repair."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from leasehold.client import Client
from leasehold.errors import StoreUnavailable
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import DryRun, Id
from leasehold.gateway.routing.routes import Call, NoParameters, Routes
from leasehold.payloads.auditing import PAYLOAD_FINDINGS, fault_of_store
from leasehold.records.jobs import Fault
from leasehold.records.measures import MEANINGS, UNKNOWN

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
    job_ids: Annotated[list[Id], Meta(max_length=1000)] | None = None
    grace: Grace = 60.0
    dry_run: DryRun = True


class RepairedBody(msgspec.Struct, frozen=True, kw_only=True):
    """What was repaired, or would be. `left`: those that are still there, for people or because somebody has them locked."""

    dry_run: bool
    changed: int
    left: int
    items: Sequence[FindingBody]


FRESH_SECONDS = 10.0


class ChecksParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How old the answer may be."""

    within: Annotated[
        float,
        Meta(ge=FRESH_SECONDS, le=3600, description="Seconds; what was found longer ago is looked at again."),
    ] = FRESH_SECONDS


class CheckBody(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at: what was found, and what to do about it.

    Attributes:
        verdict: `problem` calls for somebody; `advice` could be better; `skipped`: could not be looked at.
    """

    name: str
    verdict: Literal["ok", "advice", "problem", "skipped"]
    detail: str
    advice: str | None


class ChecksBody(msgspec.Struct, frozen=True, kw_only=True):
    """All checks in their order. `problems`, `advised`: how many have that verdict."""

    problems: int
    advised: int
    items: Sequence[CheckBody]


routes = Routes("upkeep")


@routes("GET", "/api/doctor", "Examine the server as `leasehold doctor` does", scope=Scope.OPERATE)
async def list_checks(call: Call[ChecksParameters, None]) -> ChecksBody:
    """The checks of `leasehold doctor` that are about the server, made by this gateway with the rights of its role. They take
    Postgres about 45 ms of CPU, so all who ask share the last ones as long as these are fresh enough for them. What concerns
    the machine and the settings of a worker is told by the command alone. It needs the scope operate, because it tells of other
    sessions of the server and what they ask."""
    found = await call.services.asked.get("doctor", call.parameters.within, call.services.examine)
    return ChecksBody(
        problems=sum(each.verdict == "problem" for each in found),
        advised=sum(each.verdict == "advice" for each in found),
        items=[CheckBody(**msgspec.structs.asdict(each)) for each in found],
    )


MOST = 1000
PATIENCE_SECONDS = 20.0


@routes("GET", "/api/findings", "Audit jobs, chains, schedules and partitions", scope=Scope.READ)
async def list_findings(call: Call[FindingsParameters, None]) -> FindingsBody:
    """What an audit finds, with what it means. It reads all unfinished jobs and every finished link of a chain, and locks
    nothing; after 20 seconds it gives up, and `leasehold audit` is the way. Where a payload store is set, it compares that with
    the payloads, for another 20 seconds."""
    client = call.services.client
    if call.parameters.if_small and not await client.jobs.are_few():
        return FindingsBody(total=0, items=[], is_left_out=True)
    faults = await _audit(client, call.parameters.grace)
    return FindingsBody(total=len(faults), items=[body_of(fault) for fault in faults[:MOST]])


@routes(
    "POST",
    "/api/findings/repair",
    "Repair what an audit finds",
    scope=Scope.ADMIN,
    example={"findings": ["overdue"], "dry_run": False},
)
async def repair_findings(call: Call[NoParameters, RepairBody]) -> RepairedBody:
    """Repairs findings, up to 1000, each in a transaction of its own. Unless `dry_run` is false, it only reports which ones."""
    client, body = call.services.client, call.body
    faults = [fault for fault in await _audit(client, body.grace) if is_chosen(fault, body)]
    chosen = [body_of(fault) for fault in faults[:MOST]]
    if body.dry_run:
        items = [msgspec.structs.replace(each, is_repaired=each.is_repairable) for each in chosen]
    else:
        items = [body_of(await _repair(client, fault)) for fault in faults[:MOST]]
    changed = sum(each.is_repaired for each in items)
    return RepairedBody(dry_run=body.dry_run, changed=changed, left=len(faults) - changed, items=items)


async def _audit(client: Client, grace: float) -> list[Fault]:
    faults = await client.jobs.audit(grace=grace, patience=PATIENCE_SECONDS)
    if not client.payloads.archive().has_store:
        return faults
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return faults + await client.payloads.audit()
    except TimeoutError:
        return [*faults, fault_of_store("audit_unfinished", f"it took more than {PATIENCE_SECONDS:.0f} seconds")]
    except StoreUnavailable as error:
        return [*faults, fault_of_store("store_unavailable", str(error))]


async def _repair(client: Client, fault: Fault) -> Fault:
    if fault.finding not in PAYLOAD_FINDINGS:
        return await client.jobs.repair(fault)
    try:
        return await client.payloads.repair(fault)
    except StoreUnavailable as error:
        return msgspec.structs.replace(fault, explanation=f"{fault.explanation}; {error}")


def is_chosen(fault: Fault, body: RepairBody) -> bool:
    """Whether a repair is asked for it."""
    is_named = body.findings is None or fault.finding in body.findings
    return is_named and (body.job_ids is None or fault.job_id in body.job_ids)


def body_of(fault: Fault) -> FindingBody:
    """The finding with what it means."""
    meaning = MEANINGS.get(fault.finding, UNKNOWN)
    return FindingBody(**msgspec.structs.asdict(fault), **msgspec.structs.asdict(meaning))
