from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue, pile_up


async def test_jobs_of_a_marked_priority_are_listed_from_the_mark_on_and_all_others_from_their_beginning(
    database: Database,
) -> None:
    ids = {priority: [await enqueue(database, "a", priority=priority) for _ in range(3)] for priority in (9, 5, 1, -7)}
    mark = "insert into leasehold.lane_marks select queue, kind, 0, priority, run_at, id, now() from leasehold.jobs where id = $1"
    await database.execute(mark.replace("$1", str(ids[5][1])))
    await database.execute(mark.replace("$1", str(ids[-7][2])))

    async def listed(most: int, *, locked: bool = False) -> list[int]:
        return [row["id"] for row in await database.call("list_marked_jobs", "default", "a", 0, most, None, locked)]

    all_of_them = [*ids[9], *ids[5][1:], *ids[1], ids[-7][2]]
    assert await listed(100) == all_of_them
    assert await listed(4) == all_of_them[:4]
    async with database.reserve("other") as other:
        await other.execute("begin")
        await other.call("list_marked_jobs", "default", "a", 0, 4, None, True)
        assert await listed(100, locked=True) == all_of_them[4:]
        assert await listed(100) == all_of_them
        await other.execute("rollback")


async def test_the_greatest_and_least_priorities_are_listed(database: Database) -> None:
    least, greatest = -(2**31), 2**31 - 1
    await pile_up(database, 1, "a", priority=least)
    await pile_up(database, 1, "a", priority=greatest)
    rows = await database.call("list_marked_jobs", "default", "a", 0, 9, None, False)
    assert [row["priority"] for row in rows] == [greatest, least]
