"""The handlers of `/api/findings…`."""

from __future__ import annotations

import asyncio

import msgspec

from leasehold.client import Client
from leasehold.errors import StoreUnavailable
from leasehold.gateway.resources.jobs.findings.bodies import (
    FindingBody,
    FindingsBody,
    FindingsParameters,
    RepairBody,
    RepairedBody,
)
from leasehold.gateway.routing.routes import Call, NoParameters
from leasehold.payloads.auditing import PAYLOAD_FINDINGS, fault_of_store
from leasehold.records.findings import MEANINGS, UNKNOWN
from leasehold.records.jobs import Fault

MOST = 1000
PATIENCE_SECONDS = 20.0


async def list_findings(call: Call[FindingsParameters, None]) -> FindingsBody:
    """What an audit finds, with what it means. It reads all unfinished jobs and every finished link of a chain, and locks
    nothing; after 20 seconds it gives up, and `leasehold audit` is the way. Where a payload store is set, it compares that with
    the payloads, for another 20 seconds."""
    client = call.services.client
    if call.parameters.if_small and not await client.jobs.are_few():
        return FindingsBody(total=0, items=[], is_left_out=True)
    faults = await _audit(client, call.parameters.grace)
    return FindingsBody(total=len(faults), items=[told(fault) for fault in faults[:MOST]])


async def repair_findings(call: Call[NoParameters, RepairBody]) -> RepairedBody:
    """Repairs findings, up to 1000, each in a transaction of its own. Unless `dry_run` is false, it only reports which ones."""
    client, body = call.services.client, call.body
    faults = [fault for fault in await _audit(client, body.grace) if is_meant(fault, body)]
    chosen = [told(fault) for fault in faults[:MOST]]
    if body.dry_run:
        items = [msgspec.structs.replace(each, is_repaired=each.is_repairable) for each in chosen]
    else:
        items = [told(await _repair(client, fault)) for fault in faults[:MOST]]
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


def is_meant(fault: Fault, body: RepairBody) -> bool:
    """Whether a repair is asked for it."""
    is_named = body.findings is None or fault.finding in body.findings
    return is_named and (body.job_ids is None or fault.job_id in body.job_ids)


def told(fault: Fault) -> FindingBody:
    """The finding with what it means."""
    meaning = MEANINGS.get(fault.finding, UNKNOWN)
    return FindingBody(
        finding=fault.finding,
        subject=fault.subject,
        job_id=fault.job_id,
        explanation=fault.explanation,
        meaning=meaning.meaning,
        remedy=meaning.remedy,
        is_repairable=meaning.is_repairable,
        is_repaired=fault.is_repaired,
    )
