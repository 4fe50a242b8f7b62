from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def lanes(database: Database, queue: str | None = None, most: int = 10) -> list[tuple[str, str, int]]:
    return [tuple(row) for row in await database.call("list_marked_lanes", queue, most)]


async def test_lanes_with_and_without_marks_are_listed_in_order_and_empty_ones_are_not(database: Database) -> None:
    mark = "insert into leasehold.lane_marks values ('{}', '{}', 0, 0, '2000-01-01', 0, now())"
    for queue, kind in (("a", "x"), ("b", "empty"), ("c", "x")):
        await database.execute(mark.format(queue, kind))
    for queue, kind in (("a", "w"), ("a", "x"), ("b", "z"), ("c", "x"), ("d", "y")):
        await enqueue(database, kind, queue=queue)
    await enqueue(database, "x", queue="c", key_group="g")
    every = [("a", "w", 0), ("a", "x", 0), ("b", "z", 0), ("c", "x", 0), ("c", "x", 1), ("d", "y", 0)]
    assert await lanes(database) == every
    assert await lanes(database, most=3) == every[:3]
    assert await lanes(database, "c") == every[3:5]
    assert await lanes(database, "b") == every[2:3]
    assert await lanes(database, "e") == []


async def test_where_too_many_marked_lanes_are_empty_the_end_is_not_known(database: Database) -> None:
    mark = "insert into leasehold.lane_marks select 'a', 'x' || n, 0, 0, '2000-01-01', 0, now() from generate_series(1, 9) n"
    await database.execute(mark)
    await enqueue(database, "y", queue="b")
    assert (await database.call("list_marked_lanes", None, 2))[-1]["queue_name"] is None
    assert await lanes(database, most=3) == [("b", "y", 0)]
    assert [job["kind"] for job in await SqlWorker(database).claim(1)] == ["y"]
