"""Changing many jobs, a page at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from leasehold.asks.ids import checked_ids
from leasehold.database import Row
from leasehold.database.rows import from_row
from leasehold.errors import BadInput
from leasehold.records.jobs import ChangedJob

PAGE = 1000

Page = Callable[["list[int] | None", "int | None", int], Awaitable["list[Row]"]]


async def all_pages(page: Page, job_ids: Sequence[int] | None, limit: int | None) -> list[ChangedJob]:
    """All that `page(ids, after_id, batch)` answers, called until nothing is left or `limit` is reached."""
    if limit is not None and limit < 1:
        raise BadInput(f"limit must be 1 or more, not {limit}")
    ids = None if job_ids is None else sorted(set(checked_ids(job_ids)))[:limit]
    changes: list[ChangedJob] = []
    while limit is None or len(changes) < limit:
        asked = PAGE if limit is None else min(PAGE, limit - len(changes))
        if ids is not None:
            asked_ids, ids = ids[:asked], ids[asked:]
            rows = await page(asked_ids, None, asked) if asked_ids else []
        else:
            rows = await page(None, changes[-1].job_id if changes else None, asked)
        changes += [from_row(ChangedJob, row) for row in rows]
        if not rows or (ids is None and len(rows) < asked):
            break
    return changes
