"""What enqueue_jobs promises is tested with it; here what only the other callers ask for."""

from __future__ import annotations

import json

import pytest

from leasehold.database import Caller, Database
from leasehold.errors import BadInput
from tests.support.sql_chains import edges, links
from tests.support.sql_jobs import snapshot, state

Added = list[tuple[int, bool]]


async def add(
    caller: Caller,
    jobs: list[dict[str, object]],
    job_ids: list[int] | None = None,
    chains: list[int] | None = None,
    positions: list[int] | None = None,
    bases: list[int] | None = None,
) -> Added:
    rows = await caller.call("add_jobs", json.dumps(jobs), job_ids, chains, positions, bases, False)
    return [(row["job_id"], row["is_new"]) for row in rows]


async def test_ids_that_were_drawn_before_are_taken_and_none_is_drawn_for_nothing(database: Database) -> None:
    assert await add(database, [{"kind": "a"}, {"kind": "b"}], [101, 100]) == [(101, True), (100, True)]
    assert await add(database, [{"kind": "c"}]) == [(1, True)]


async def test_no_jobs_are_no_jobs(database: Database) -> None:
    assert await add(database, []) == []
    assert await add(database, [], [], [], [], []) == []


async def test_a_job_continues_the_chain_that_is_named_for_it(database: Database) -> None:
    await add(database, [{"kind": "a"}, {"kind": "b"}, {"kind": "c"}], [50, 51, 52], [0, 7, 0], [0, 3, 0])
    rows = await database.fetch("select id, chain_id, chain_position from leasehold.jobs order by id")
    assert [tuple(row) for row in rows] == [(50, None, None), (51, 7, 3), (52, None, None)]
    assert [link[:2] for link in await links(database, 7)] == [(51, 3)]


async def test_positions_count_from_the_base_of_their_list(database: Database) -> None:
    jobs: list[dict[str, object]] = [
        {"kind": "a"},
        {"kind": "b", "blockers": [{"position": 1}]},
        {"kind": "c"},
        {"kind": "d", "blockers": [{"position": 1}]},
    ]
    await add(database, jobs, bases=[0, 0, 2, 2])
    assert [await edges(database, n) for n in (2, 4)] == [[(1, False, None)], [(3, False, None)]]
    with pytest.raises(BadInput, match=r'job 3: a blocker must be .* not {"position": 1}'):
        await add(database, [*jobs[:2], jobs[1]], bases=[0, 0, 2])


async def test_a_job_cannot_wait_for_the_chain_that_it_continues(database: Database) -> None:
    await add(database, [{"kind": "a"}])
    before = await snapshot(database)
    with pytest.raises(BadInput, match="job 2: it would wait for its own chain"):
        await add(database, [{"kind": "b"}, {"kind": "b", "blockers": [1]}], chains=[0, 1], positions=[0, 1])
    assert await snapshot(database) == before


async def test_the_database_itself_keeps_a_chain_to_one_open_continuation(database: Database) -> None:
    with pytest.raises(Exception, match="jobs_open_chain"):
        await add(database, [{"kind": "b"}, {"kind": "b"}], chains=[1, 1], positions=[1, 2])
    assert await database.fetch("select from leasehold.jobs") == []


async def test_a_blocked_job_with_a_key_is_no_reason_for_another_to_wait(database: Database) -> None:
    first: dict[str, object] = {"kind": "b", "key": "k", "blockers": [{"position": 1}]}
    await add(database, [{"kind": "a"}, first, {"kind": "b", "key": "k"}])
    assert [await state(database, n) for n in (1, 2, 3)] == ["pending", "blocked", "pending"]
