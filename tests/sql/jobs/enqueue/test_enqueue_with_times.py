from __future__ import annotations

import json

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_jobs import enqueue, job


async def test_new_jobs_come_back_in_order_with_the_times_of_their_rows(database: Database) -> None:
    rows = await database.call(
        "enqueue_with_times", json.dumps([{"kind": "a"}, {"kind": "b", "delay": 60}, {"kind": "c", "key": "k"}])
    )
    made = [await job(database, row["job_id"]) for row in rows]
    assert [(row["is_new"], row["outcome"]) for row in rows] == [(True, "created")] * 3
    assert [row["created_at"] for row in rows] == [each["created_at"] for each in made]
    assert [each["kind"] for each in made] == ["a", "b", "c"]


async def test_no_jobs_are_no_rows(database: Database) -> None:
    assert await database.call("enqueue_with_times", "[]") == []


async def test_a_job_that_was_there_has_no_time_of_its_making(database: Database) -> None:
    first = await enqueue(database, "a", idempotency_key="k")
    [row] = await database.call("enqueue_with_times", json.dumps([{"kind": "a", "idempotency_key": "k"}]))
    assert (row["job_id"], row["is_new"], row["created_at"]) == (first, False, None)


async def test_it_refuses_what_enqueue_jobs_refuses(database: Database) -> None:
    with pytest.raises(BadInput):
        await database.call("enqueue_with_times", json.dumps([{"kind": ""}]))
