from __future__ import annotations

import json

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, UniqueConflict
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_jobs import job as shown
from tests.support.sql_worker import SqlWorker


async def enqueue(database: Database, job: object, **filters: object) -> dict[str, int | None]:
    """The id of the new job of each key, in order."""
    rows = await database.call("enqueue_for_keys", json.dumps(job), timeout=None, **filters)
    return {row["key"]: row["job_id"] for row in rows}


@pytest.fixture
async def shops(database: Database, worker: SqlWorker) -> Database:
    """Crawls of three shops: 1 of a failed, and so did 2 of b, but the later 4 completed; 3 of c completed; 5 of a is
    another kind."""
    await enqueue_many(
        database,
        [
            {"kind": "crawl", "key": "a", "metadata": {"state": "AZ"}},
            {"kind": "crawl", "key": "b", "metadata": {"state": "AZ"}},
            {"kind": "crawl", "key": "c", "metadata": {"state": "CA"}, "queue": "west"},
        ],
    )
    first, second, third = sorted(await worker.claim(), key=lambda job: job["job_id"])
    await worker.fail([first, second], discard=[True, True])
    await worker.complete([third])
    await worker.complete(await worker.given_all([{"kind": "crawl", "key": "b", "metadata": {"state": "AZ", "n": 2}}]))
    await enqueue_many(database, [{"kind": "report", "key": "a"}])
    return database


async def test_each_key_gets_one_job(shops: Database) -> None:
    assert await enqueue(shops, {"kind": "refresh", "priority": 3}) == {"a": 6, "b": 7, "c": 8}
    row = await shown(shops, 7)
    assert (row["kind"], row["key"], row["priority"], row["state"]) == ("refresh", "b", 3, "pending")


CASES: list[tuple[dict[str, object], list[str]]] = [
    ({"metadata": '{"state": "AZ"}'}, ["a", "b"]),
    ({"queue": "west"}, ["c"]),
    ({"kind": "report"}, ["a"]),
    ({"kind": "crawl", "state": "failed"}, ["a"]),
    ({"kind": "crawl", "state": "completed"}, ["b", "c"]),
    ({"state": "failed"}, list[str]()),
    ({"keys": ["c", "x"]}, ["c"]),
    ({"after_key": "a"}, ["b", "c"]),
    ({"batch": 2}, ["a", "b"]),
]


async def test_the_filter_says_which_keys(shops: Database) -> None:
    for filters, keys in CASES:
        assert list(await enqueue(shops, {"kind": "refresh"}, dry_run=True, **filters)) == keys
        assert list(await enqueue(shops, {"kind": "refresh"}, **filters)) == keys


async def test_a_dry_run_makes_nothing(shops: Database) -> None:
    assert await enqueue(shops, {"kind": "refresh"}, dry_run=True) == {"a": None, "b": None, "c": None}
    assert await shops.fetch("select from leasehold.jobs where kind = 'refresh'") == []


async def test_twice_makes_no_second_job_where_jobs_are_unique_by_key(shops: Database) -> None:
    job = {"kind": "refresh", "unique": {"by": ["kind", "key"]}}
    assert await enqueue(shops, job) == await enqueue(shops, job)
    with pytest.raises(UniqueConflict):
        await enqueue(shops, {"kind": "refresh", "unique": {"by": ["kind", "key"], "on_conflict": "reject"}})


@pytest.mark.parametrize(
    ("job", "filters", "complaint"),
    [
        ({"kind": "x"}, {"batch": 0}, "batch must be from 1 to 10000, not 0"),
        ({"kind": "x"}, {"state": "done"}, "there is no state 'done'"),
        ({"kind": "x", "key": "k"}, {}, "neither key nor idempotency_key of its own"),
        ({"kind": ""}, {}, "kind"),
    ],
)
async def test_nonsense_is_refused(
    shops: Database, job: dict[str, object], filters: dict[str, object], complaint: str
) -> None:
    with pytest.raises(BadInput, match=complaint):
        await enqueue(shops, job, **filters)
