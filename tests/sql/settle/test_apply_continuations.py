"""Its promises are tested with continue_jobs; here that it judges nobody's lease: the caller has."""

from __future__ import annotations

import json

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.sql.jobs.change.test_cancel_job import OPEN_STATES, job_in
from tests.support.sql_chains import broken_chains, edges, enqueue_blocked, links
from tests.support.sql_jobs import empty, enqueue, enqueue_many, job, snapshot, state
from tests.support.sql_worker import SqlWorker

NEXT = json.dumps({"next": {"kind": "b"}})


async def test_a_job_in_any_state_is_completed_and_continued(database: Database, worker: SqlWorker) -> None:
    for start in OPEN_STATES:
        await empty(database)
        job_id, _ = await job_in(database, worker, start)
        (row,) = await database.call("apply_continuations", [job_id], [NEXT], None, None)
        (new_id,) = row["new_ids"]
        assert (row["job_id"], await links(database, job_id)) == (
            job_id,
            [(job_id, 0, "completed", new_id), (new_id, 1, "pending", None)],
        )
        assert ((await job(database, job_id))["started_at"] is not None) == (start == "running")
        assert await broken_chains(database) == []


async def test_a_job_that_nobody_claimed_can_end_a_chain(database: Database) -> None:
    await enqueue(database)
    joined = await enqueue_blocked(database, [1])
    await database.call("apply_continuations", [1], [None], ['"from outside"'], None)
    assert (await state(database, joined), await edges(database, joined)) == ("pending", [(1, True, "from outside")])


async def test_no_jobs_and_shorter_arrays_do_no_harm(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 2)
    empty: list[list[int] | None] = [[], None]
    for nothing in empty:
        assert await database.call("apply_continuations", nothing, [], [], []) == []
    rows = await database.call("apply_continuations", [1, 2], [NEXT], [], None)
    assert [(row["job_id"], row["new_ids"]) for row in rows] == [(1, [3]), (2, [])]


GOOD = [
    None,
    "null",
    "{}",
    '{"jobs": []}',
    '{"jobs": null, "next": null}',
    '{"next": {"kind": "a"}}',
    '{"next": {"kind": "a", "idempotency_key": null, "unique": null}}',
    '{"jobs": [{"kind": "a"}], "next": {"kind": "b"}}',
]

BAD = [
    ("[]", "a continuation must be a JSON object, not array"),
    ('"a"', "a continuation must be a JSON object, not string"),
    ('{"then": {}}', "a continuation has next and jobs, not then"),
    ('{"zoo": 1, "next": {}, "and": 1}', "a continuation has next and jobs, not and"),
    ('{"jobs": {}}', "jobs must be an array, not object"),
    ('{"jobs": "a"}', "jobs must be an array, not string"),
    ('{"next": []}', "next must be a job, not array"),
    ('{"next": "a"}', "next must be a job, not string"),
    (
        '{"next": {"kind": "a", "idempotency_key": "k"}}',
        "next continues the chain and takes neither idempotency_key nor unique",
    ),
    ('{"next": {"kind": "a", "unique": {}}}', "next continues the chain and takes neither idempotency_key nor unique"),
]


async def test_these_continuations_are_accepted(database: Database) -> None:
    made = await enqueue_many(database, [{"kind": "a"}] * len(GOOD))
    rows = await database.call("apply_continuations", made, GOOD, None, None)
    assert [len(row["new_ids"]) for row in rows] == [0, 0, 0, 0, 0, 1, 1, 2]


async def test_these_continuations_are_refused(database: Database) -> None:
    await enqueue(database)
    for continuation, complaint in BAD:
        with pytest.raises(BadInput, match=f"^job 1: {complaint}"):
            await database.call("apply_continuations", [1], [continuation], None, None)


async def test_a_refusal_names_the_job_whose_continuation_it_was(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 3)
    before = await snapshot(database)
    with pytest.raises(BadInput, match=r"^job 2: jobs must be an array, not object"):
        await database.call("apply_continuations", [1, 2, 3], [None, '{"jobs": {}}', "[]"], None, None)
    assert await snapshot(database) == before
