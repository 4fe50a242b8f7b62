from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_limits import enqueue_groups


async def shared(database: Database, counts: list[int], batch: int) -> dict[str | None, int]:
    """A batch divided among the connection of jobs without a group and those of groups a and b."""
    rows = await database.call(
        "share_batch", ["default"] * 3, ["a"] * 3, [0, None, None], [None, "a", "b"], counts, batch, None
    )
    return {row["key_group"]: row["jobs"] for row in rows}


async def test_the_best_jobs_of_all_lanes_decide(database: Database) -> None:
    await enqueue_groups(database, [None, "a", "b", "b", "a", None])
    await enqueue_groups(database, "a", priority=5)
    assert await shared(database, [9, 9, 9], 3) == {None: 1, "a": 2}
    assert await shared(database, [9, 9, 9], 9) == {None: 2, "a": 3, "b": 2}


async def test_no_lane_gives_more_than_it_may(database: Database) -> None:
    await enqueue_groups(database, [*"aaaaab", None])
    assert await shared(database, [1, 2, 3], 3) == {"a": 2, "b": 1}
    assert await shared(database, [1, 2, 3], 9) == {None: 1, "a": 2, "b": 1}
