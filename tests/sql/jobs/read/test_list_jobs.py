from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_jobs import empty, enqueue_many
from tests.support.sql_worker import SqlWorker


async def listed(database: Database, **filters: object) -> list[int]:
    return [row["id"] for row in await database.call("list_jobs", timeout=None, **filters)]


async def make_jobs(database: Database) -> None:
    """1 completed · 2 failed · 3 claimed · 4 waiting behind it · 5 pending · 6 scheduled"""
    await enqueue_many(
        database,
        [
            {"kind": "a"},
            {"kind": "b", "queue": "q"},
            {"kind": "a", "key": "k"},
            {"kind": "b", "key": "k"},
        ],
    )
    worker = SqlWorker(database)
    claimed = await worker.claim()
    await worker.complete(claimed[:1])
    await worker.fail(claimed[1:2], discard=[True])
    await enqueue_many(database, [{"kind": "a"}, {"kind": "a", "delay": 60}])


async def test_newest_first_finished_or_not(database: Database) -> None:
    await make_jobs(database)
    assert await listed(database) == [6, 5, 4, 3, 2, 1]


async def test_stale_jobs_are_held_jobs_whose_lease_has_run_out(database: Database) -> None:
    await make_jobs(database)
    assert await listed(database, state="stale") == []
    await database.execute(
        "update leasehold.jobs set lease_expires_at = leasehold.clock() - interval '1 s' where id = 3"
    )
    assert await listed(database, state="stale") == [3]
    assert await listed(database, state="stale", kind="b") == []


async def test_part_of_the_metadata_is_enough(database: Database) -> None:
    await enqueue_many(
        database,
        [{"kind": "a", "metadata": {"platform": "x", "more": {"a": 1}}}, {"kind": "a"}, {"kind": "a", "metadata": {}}],
    )
    assert await listed(database, metadata='{"platform": "x"}') == [1]
    assert await listed(database, metadata='{"more": {"a": 1}}') == [1]
    assert await listed(database, metadata='{"platform": "y"}') == []


async def test_blocked_jobs_can_be_asked_for(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}, {"kind": "a", "blockers": [{"position": 1}]}, {"kind": "a"}])
    assert await listed(database, state="blocked") == [2]
    assert await listed(database, state="pending") == [3, 1]


CASES: list[tuple[dict[str, object], list[int]]] = [
    ({"state": "completed"}, [1]),
    ({"state": "failed"}, [2]),
    ({"state": "claimed"}, [3]),
    ({"state": "waiting"}, [4]),
    ({"state": "pending"}, [5]),
    ({"state": "scheduled"}, [6]),
    ({"state": "running"}, []),
    ({"queue": "q"}, [2]),
    ({"kind": "b"}, [4, 2]),
    ({"key": "k"}, [4, 3]),
    ({"key": "k", "kind": "b"}, [4]),
    ({"kind": "b", "queue": "default"}, [4]),
    ({"queue": "' or true --"}, []),
]


async def test_filters_narrow_it_down(database: Database) -> None:
    for filters, expected in CASES:
        await empty(database)
        await make_jobs(database)
        assert await listed(database, **filters) == expected


async def test_pages_follow_each_other_without_gap_or_repetition(database: Database) -> None:
    await make_jobs(database)
    pages: list[list[int]] = []
    before: int | None = None
    while page := await listed(database, page_size=2, before_id=before):
        pages.append(page)
        before = page[-1]
    assert pages == [[6, 5], [4, 3], [2, 1]]


async def test_an_unknown_state_is_refused(database: Database) -> None:
    with pytest.raises(
        BadInput, match=r"there is no state 'done' \(states: pending, scheduled, waiting, blocked, claimed,"
    ):
        await listed(database, state="done")


async def test_more_filters_narrow_it_down_further(database: Database) -> None:
    await make_jobs(database)
    await enqueue_many(database, [{"kind": "c", "args": {"shop": 7, "deep": {"x": [1, 2]}}}])
    assert await listed(database, worker_id="w1") == [3, 2, 1]
    assert await listed(database, worker_id="w1", after_id=1, before_id=3) == [2]
    assert await listed(database, args='{"shop": 7}') == [7]
    assert await listed(database, args='{"deep": {"x": [2]}}') == [7]
    assert await listed(database, args='{"shop": 8}') == []


async def test_the_time_of_enqueueing_narrows_it_down(database: Database) -> None:
    await make_jobs(database)
    rows = await database.fetch("select created_at from leasehold.all_jobs where id in (4, 5) order by id")
    fourth, fifth = [row["created_at"] for row in rows]
    assert await listed(database, created_after=fifth) == [6, 5]
    assert await listed(database, created_before=fifth) == [4, 3, 2, 1]
    assert await listed(database, created_after=fourth, created_before=fifth) == [4, 3, 2, 1]


async def test_large_columns_are_read_only_where_they_are_wanted(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "args": {"x": 1}, "metadata": {"y": 2}}])
    for columns, expected in (
        (None, ('{"x": 1}', '{"y": 2}')),
        ([], (None, None)),
        (["metadata"], (None, '{"y": 2}')),
    ):
        [row] = await database.call("list_jobs", timeout=None, columns=columns)
        assert (row["args"], row["metadata"]) == expected


async def test_a_page_ends_with_the_job_that_fills_it(database: Database) -> None:
    large = {"text": "x" * 1_000}
    await enqueue_many(database, [{"kind": "a", "args": large} for _ in range(5)])
    assert await listed(database, most_bytes=2_500) == [5, 4, 3]
    assert await listed(database, most_bytes=1) == [5]
    assert await listed(database, most_bytes=1, columns=["output"]) == [5, 4, 3, 2, 1]
    assert await listed(database, most_bytes=1_000_000) == [5, 4, 3, 2, 1]
