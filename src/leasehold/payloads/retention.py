"""Deleting what is old: the content, then the row."""

from __future__ import annotations

from leasehold.payloads.archive import Archive

BATCH = 200


async def delete_old_payloads(archive: Archive, keep_days: int, keep_jobs_days: int | None = None) -> int:
    """Delete one batch of payloads that are older, and those whose deletion somebody did not finish; returns how many.

    Args and outputs of jobs go with their jobs, which are kept for `keep_jobs_days`.
    Whoever dies in between leaves hidden rows, which the next call takes up again. Call it until it returns 0.

    Raises:
        StoreUnavailable: the content cannot be deleted; its rows stay hidden until it can.
    """
    rows = await archive.caller.call("expire_old_payloads", keep_days, BATCH, keep_jobs_days)
    return await archive.sweep([(row["payload_id"], row["location"]) for row in rows])
