from __future__ import annotations

import json
import re
from typing import Any

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, UniqueConflict
from tests.sql.workers.commands.test_wake_idle_workers import heard, idle_worker
from tests.support.sql_jobs import empty
from tests.support.sql_schedules import create, history, jobs_made, schedule

STORES = """select 'store-' || id as key, id as store, jsonb_build_object('state_code', state_code) as metadata
              from (values (1, 'AZ'), (2, 'CA'), (10, 'AZ')) s(id, state_code)"""


async def enqueue(database: Database, name: str = "s", **filters: Any) -> list[tuple[str, int | None]]:
    """(key, job id) of what was made, in order."""
    given = {key: json.dumps(value) if isinstance(value, dict) else value for key, value in filters.items()}
    return [(row["key"], row["job_id"]) for row in await database.call("enqueue_for_rows", name, timeout=None, **given)]


async def test_rows_that_fit_get_the_job_of_the_schedule_and_its_ticks_stay_as_they_are(database: Database) -> None:
    before = await create(database, kind="crawl", queue="west", query=STORES, enabled=False)
    assert await enqueue(database, metadata={"state_code": "AZ"}) == [("store-1", 1), ("store-10", 2)]
    jobs = await jobs_made(database)
    assert [(job["kind"], job["queue"], job["state"], json.loads(job["args"])) for job in jobs] == [
        ("crawl", "west", "pending", {"store": 1}),
        ("crawl", "west", "pending", {"store": 10}),
    ]
    assert json.loads(jobs[0]["metadata"]).items() >= {"state_code": "AZ", "schedule": "s"}.items()
    assert await history(database) == []
    assert dict(await schedule(database)) == dict(before)


async def test_keys_metadata_and_place_narrow_it_down_and_a_dry_run_makes_none(database: Database) -> None:
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({}, ["store-1", "store-10", "store-2"]),
        ({"keys": ["store-2", "store-7"]}, ["store-2"]),
        ({"metadata": {"state_code": "NY"}}, []),
        ({"after_key": "store-1"}, ["store-10", "store-2"]),
        ({"after_key": "store-1", "batch": 1}, ["store-10"]),
        ({"metadata": {"schedule": "s"}, "batch": 2}, ["store-1", "store-10"]),
    ]
    for filters, keys in cases:
        await empty(database)
        await create(database, query=STORES)
        assert await enqueue(database, dry_run=True, **filters) == [(key, None) for key in keys]
        assert await jobs_made(database) == []
        assert [key for key, _ in await enqueue(database, **filters)] == keys


async def test_all_rows_of_one_key_count_as_one(database: Database) -> None:
    await create(database, query="select 'k' || n % 3 as key, n from generate_series(0, 8) n")
    assert [key for key, _ in await enqueue(database, batch=2)] == ["k0"] * 3 + ["k1"] * 3


async def test_the_caller_may_say_how_urgent_and_how_unique_they_are(database: Database) -> None:
    await create(database, query=STORES, priority=1)
    unique = {"by": ["kind", "key"]}
    first = await enqueue(database, job={"priority": 7, "unique": unique})
    assert {job["priority"] for job in await jobs_made(database)} == {7}
    assert await enqueue(database, job={"unique": unique}) == first
    with pytest.raises(UniqueConflict):
        await enqueue(database, job={"unique": unique | {"on_conflict": "reject"}})


REFUSED: list[tuple[str | None, dict[str, Any], str]] = [
    (STORES, {"batch": 0}, "batch must be from 1 to 10000"),
    (STORES, {"job": {"kind": "other"}}, "has no kind of its own"),
    (STORES, {"job": {"args": {"store": 3}}}, "has no args of its own"),
    (STORES, {"metadata": {"state": "AZ"}}, "no row of schedule 's' has state in its metadata"),
    ("select 1 as store", {}, "gives a row without key"),
    ("select 'a' as key, 1 / (n - n) from generate_series(1, 1) n", {}, "division by zero"),
    (None, {}, "schedule 's' has no query"),
]


async def test_what_cannot_be_is_refused_with_what_to_do(database: Database) -> None:
    for query, filters, told in REFUSED:
        await empty(database)
        await create(database, query=query)
        with pytest.raises(BadInput, match=re.escape(told)):
            await enqueue(database, **filters)
        assert await jobs_made(database) == []


async def test_an_empty_table_of_stores_is_no_mistake(database: Database) -> None:
    await create(database, query=f"{STORES} where false")
    assert await enqueue(database, metadata={"state_code": "AZ"}) == []


async def test_idle_workers_are_woken(fresh_database: Database) -> None:
    await create(fresh_database, query=STORES)
    await idle_worker(fresh_database)
    assert await heard(fresh_database, lambda: enqueue(fresh_database)) == ["wake:default"]
