"""What a janitor does in a round."""

from __future__ import annotations

from leasehold.database import Caller


async def forget(caller: Caller, keep_days: int) -> None:
    """Remove everything older, as a janitor does."""
    for function in ("drop_old_partitions", "drop_old_rows"):
        while await caller.call_value(function, keep_days):
            pass
    await forget_rows_of_jobs(caller, keep_days)


async def forget_rows_of_jobs(caller: Caller, keep_days: int, batch: int = 2000) -> list[int]:
    """Remove what outlived its jobs; how many rows each call removed."""
    dropped: list[int] = []
    last_id = 0
    while last_id is not None:
        (row,) = await caller.call("drop_rows_of_old_jobs", keep_days, last_id, batch)
        dropped.append(row["dropped"])
        last_id = row["last_id"]
    return dropped
