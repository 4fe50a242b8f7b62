"""Jobs with an idempotency key are written together with their keys, where these are new."""

from __future__ import annotations

import json

from leasehold.database import Database, Row

NEW = {"kind": "echo", "idempotency_key": "new"}


async def once(database: Database, *jobs: object) -> list[Row]:
    call = """
        select * from leasehold.enqueue_once(
            $1::jsonb, array(select nextval('leasehold.jobs_id_seq') from generate_series(1, $2)), clock_timestamp())"""
    return await database.fetch(call, json.dumps(jobs), len(jobs))


async def keys_and_jobs(database: Database) -> tuple[int, int]:
    counts = "select (select count(*) from leasehold.idempotency_keys), (select count(*) from leasehold.jobs)"
    return tuple((await database.fetch(counts))[0])


async def test_new_keys_and_their_jobs_are_written_beside_jobs_without(database: Database) -> None:
    rows = await once(database, NEW, {"kind": "echo"}, NEW | {"idempotency_key": "other", "delay": 60})
    assert [(row["is_new"], row["outcome"]) for row in rows] == [(True, "created")] * 3
    found = """
        select k.idempotency_key, j.state from leasehold.idempotency_keys k join leasehold.jobs j on j.id = k.job_id
         order by 1"""
    assert [tuple(row) for row in await database.fetch(found)] == [("new", "pending"), ("other", "scheduled")]


async def test_of_a_list_that_is_not_simple_nothing_is_written(database: Database) -> None:
    odds: list[object] = [{"kind": ""}, {"kind": "echo", "key": "a"}, {"kind": "echo", "unique": {}}, NEW, "no job"]
    for odd in odds:
        assert await once(database, NEW, odd) == []
    assert await keys_and_jobs(database) == (0, 0)


async def test_a_list_with_a_used_key_goes_on_where_the_others_have_their_keys(database: Database) -> None:
    call = "select * from leasehold.enqueue_jobs($1::jsonb)"
    [used] = await database.fetch(call, json.dumps([NEW]))
    jobs = [{"kind": "echo", "idempotency_key": "a"}, NEW, {"kind": "echo", "idempotency_key": "b"}]
    rows = await database.fetch(call, json.dumps(jobs))
    assert [row["is_new"] for row in rows] == [True, False, True]
    assert rows[1]["job_id"] == used["job_id"]
    again = await database.fetch(call, json.dumps(jobs))
    assert [row["job_id"] for row in again] == [row["job_id"] for row in rows]
    assert await keys_and_jobs(database) == (3, 3)
