"""The handlers that change many jobs at once, and report what became of each."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from leasehold.gateway.http.problems import refuse_field
from leasehold.gateway.resources.jobs.bulk_bodies import (
    BulkBody,
    BulkCancelBody,
    BulkDeleteBody,
    BulkRetryBody,
    BulkTriggerBody,
)
from leasehold.gateway.routing.routes import Call, NoParameters
from leasehold.records.jobs import ChangedJob

NO_FILTERS = ("limit", "all", "dry_run", "reason")


async def cancel_jobs(call: Call[NoParameters, BulkCancelBody]) -> BulkBody:
    """Cancels all unfinished jobs that match. Unless `dry_run` is false, it only reports what it would do."""
    body = call.body
    check_meant(body)
    changes = await call.services.client.jobs.cancel_all(
        state=body.state,
        queue=body.queue,
        kind=body.kind,
        key=body.key,
        error_type=body.error_type,
        worker_id=body.worker,
        args=body.args,
        metadata=body.metadata,
        created_after=body.created_after,
        created_before=body.created_before,
        job_ids=body.ids,
        reason=body.reason,
        limit=body.limit,
        dry_run=body.dry_run,
    )
    return report(changes, body.limit, body.dry_run)


async def retry_jobs(call: Call[NoParameters, BulkRetryBody]) -> BulkBody:
    """Runs all failed jobs that match once more (with `state`: cancelled ones, or any). Unless `dry_run` is false, it only
    reports what it would do."""
    body = call.body
    check_meant(body)
    state = "failed" if body.state is UNSET else body.state
    changes = await call.services.client.jobs.retry_all(
        state=None if state == "any" else state,
        queue=body.queue,
        kind=body.kind,
        key=body.key,
        error_type=body.error_type,
        worker_id=body.worker,
        args=body.args,
        metadata=body.metadata,
        created_after=body.created_after,
        created_before=body.created_before,
        finished_after=body.finished_after,
        finished_before=body.finished_before,
        job_ids=body.ids,
        limit=body.limit,
        dry_run=body.dry_run,
    )
    return report(changes, body.limit, body.dry_run)


async def trigger_jobs(call: Call[NoParameters, BulkTriggerBody]) -> BulkBody:
    """Runs all scheduled jobs that match now, including those that wait for their next attempt. Unless `dry_run` is false,
    it only reports what it would do."""
    body = call.body
    check_meant(body)
    changes = await call.services.client.jobs.trigger_all(
        queue=body.queue,
        kind=body.kind,
        key=body.key,
        error_type=body.error_type,
        worker_id=body.worker,
        args=body.args,
        metadata=body.metadata,
        created_after=body.created_after,
        created_before=body.created_before,
        run_after=body.run_after,
        run_before=body.run_before,
        job_ids=body.ids,
        limit=body.limit,
        dry_run=body.dry_run,
    )
    return report(changes, body.limit, body.dry_run)


async def delete_jobs(call: Call[NoParameters, BulkDeleteBody]) -> BulkBody:
    """Removes all jobs that match and that no worker holds. Unless `dry_run` is false, it only reports what it would do."""
    body = call.body
    check_meant(body)
    changes = await call.services.client.jobs.delete_all(
        state=body.state,
        queue=body.queue,
        kind=body.kind,
        key=body.key,
        error_type=body.error_type,
        worker_id=body.worker,
        args=body.args,
        metadata=body.metadata,
        created_after=body.created_after,
        created_before=body.created_before,
        finished_before=body.finished_before,
        job_ids=body.ids,
        limit=body.limit,
        dry_run=body.dry_run,
    )
    return report(changes, body.limit, body.dry_run)


def check_meant(body: BulkCancelBody | BulkRetryBody | BulkTriggerBody | BulkDeleteBody) -> None:
    """Refuses a body that means every job without saying so. A state of "any" narrows nothing down."""
    given = {name: getattr(body, name) for name in body.__struct_fields__ if name not in NO_FILTERS}
    if given.get("state") == "any":
        given["state"] = None
    if not body.all and all(each is None or each is UNSET for each in given.values()):
        raise refuse_field("$.all", f'Give {", ".join(given)}, or "all": true where you mean all jobs')


def report(changes: Sequence[ChangedJob], limit: int, dry_run: bool) -> BulkBody:
    """What became of each, with the sums."""
    changed = sum(change.changed for change in changes)
    return BulkBody(
        dry_run=dry_run,
        changed=changed,
        skipped=len(changes) - changed,
        is_limited=len(changes) >= limit,
        items=changes,
    )
