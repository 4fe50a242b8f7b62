from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_chains import broken_chains, claim_kind, complete_all, edges, links
from tests.support.sql_jobs import empty, enqueue, enqueue_many, events, job, snapshot, state, states
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker, frozen_worker, ids

SHAPE = "job 1: a wait is an object with jobs, blockers and delay"


async def test_a_held_job_goes_back_until_its_new_blockers_are_done_and_the_attempt_is_spared(
    database: Database, worker: SqlWorker
) -> None:
    held = await worker.given(max_attempts=1)
    assert await worker.block(held, [{"jobs": [{"kind": "part"}], "blockers": [{"position": 1}]}]) == {}
    row = await job(database, 1)
    assert (row["state"], row["attempt"], row["spared_attempts"], row["worker_id"]) == ("blocked", 1, 1, None)
    assert await edges(database, 1) == [(2, False, None)]
    assert await worker.held() == set()
    await complete_all(worker, "part", "found")
    (again,) = await claim_kind(worker, "echo")
    assert (again["attempt"], await edges(database, 1)) == (2, [(2, True, "found")])
    assert await events(database, 1) == [
        ("created", 0),
        ("claimed", 1),
        ("blocked", 1),
        ("unblocked", 1),
        ("claimed", 2),
    ]
    await worker.complete([again])
    assert await broken_chains(database, is_swept=True) == []


async def test_further_blockers_come_in_further_slots(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "part"}, {"kind": "a", "blockers": [{"position": 1}]}])
    await complete_all(worker, "part", 1)
    for n in (3, 4):
        held = await claim_kind(worker, "a")
        await worker.block(held, [{"jobs": [{"kind": "part"}], "blockers": [{"position": 1}, 1]}])
        assert await state(database, 2) == "blocked"
        await complete_all(worker, "part", n)
    assert [edge[2] for edge in await edges(database, 2)] == [1, 3, 1, 4, 1]


CASES: list[tuple[dict[str, object], str]] = [
    ({}, "pending"),
    ({"blockers": []}, "pending"),
    ({"blockers": None, "jobs": None, "delay": None}, "pending"),
    ({"delay": 60}, "scheduled"),
    ({"delay": -5}, "pending"),
    ({"delay": 1e300}, "scheduled"),
    ({"blockers": [1]}, "pending"),
    ({"blockers": [1], "delay": 60}, "scheduled"),
]


async def test_with_nothing_open_to_wait_for_only_the_delay_counts(database: Database, worker: SqlWorker) -> None:
    for wait, after in CASES:
        await empty(database)
        await enqueue(database, kind="done")
        await complete_all(worker, "done")
        job_id = await enqueue(database)
        await worker.block(await worker.claim(), [wait])
        assert await state(database, job_id) == after


async def test_a_delay_counts_from_now_and_holds_even_when_all_are_done(database: Database) -> None:
    async with frozen_worker(database, "2999-01-01 12:00Z") as (connection, worker):
        await enqueue(connection)
        await worker.block(
            await worker.claim(), [{"jobs": [{"kind": "part"}], "blockers": [{"position": 1}], "delay": 60}]
        )
        assert await state(connection, 1) == "blocked"
        await complete_all(worker, "part")
        row = await job(connection, 1)
        assert (row["state"], row["run_at"]) == ("scheduled", datetime(2999, 1, 1, 12, 1, tzinfo=UTC))
        await freeze(connection, "2999-01-01 12:01Z")
        assert ids(await worker.claim()) == [1]


async def test_the_key_is_given_on_while_it_waits(database: Database, worker: SqlWorker) -> None:
    held = await worker.given_all([{"kind": "a", "key": "k"}] * 2)
    await worker.block(held, [{"jobs": [{"kind": "part"}], "blockers": [{"position": 1}]}])
    assert await states(database) == {1: "blocked", 2: "pending", 3: "pending"}
    second = await claim_kind(worker, "a")
    await complete_all(worker, "part")
    assert await state(database, 1) == "waiting"
    await worker.complete(second)
    assert await state(database, 1) == "pending"


async def test_a_link_of_a_chain_may_wait_and_stays_the_open_one(database: Database, worker: SqlWorker) -> None:
    await worker.continue_with(await worker.given(), [{"next": {"kind": "b"}}])
    await worker.block(await worker.claim(), [{"jobs": [{"kind": "part"}], "blockers": [{"position": 1}]}])
    assert [link[:3] for link in await links(database, 1)] == [(1, 0, "completed"), (2, 1, "blocked")]
    await complete_all(worker, "part")
    await complete_all(worker, "b", "end")
    assert await broken_chains(database, is_swept=True) == []


async def test_a_job_cannot_wait_for_its_own_chain(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for is_link in [False, True]:
        await empty(database)
        with subtests.test(is_link=is_link):
            await enqueue(database)
            if is_link:
                await worker.continue_with(await worker.claim(), [{"next": {"kind": "b"}}])
            held = await worker.claim()
            before = await snapshot(database)
            with pytest.raises(BadInput, match="would wait for its own chain"):
                await worker.block(held, [{"blockers": [1]}])
            assert await snapshot(database) == before


BAD: list[tuple[object, str]] = [
    ([], SHAPE),
    (None, SHAPE),
    ({"until": 1}, SHAPE),
    ({"delay": "soon"}, SHAPE),
    ({"delay": True}, SHAPE),
    ({"jobs": {}}, "jobs must be a JSON array of objects"),
    ({"jobs": [{}]}, "kind is missing"),
    ({"blockers": 5}, "blockers must be an array, not number"),
    ({"blockers": [404]}, "blocker 404 is no job"),
    ({"blockers": [{"position": 1}]}, "a blocker must be the id of a job"),
    ({"jobs": [{"kind": "x"}], "blockers": [{"position": 2}]}, "job 2: a blocker must be the id of a job"),
]


async def test_a_bad_wait_is_refused_and_nothing_is_written(database: Database, worker: SqlWorker) -> None:
    for wait, complaint in BAD:
        await empty(database)
        held = await worker.given_all([{"kind": "a", "key": "k"}] * 2 + [{"kind": "a"}])
        before = await snapshot(database)
        with pytest.raises(BadInput) as refused:
            await worker.block(held, [wait, {}])  # type: ignore[list-item]
        assert str(refused.value).startswith(complaint)
        assert await snapshot(database) == before


async def test_many_at_once_each_with_its_own_wait(database: Database, worker: SqlWorker) -> None:
    held = (await worker.given_all([{"kind": "a"}] * 100, 100))[::-1]
    lost = {held[5]["job_id"]: "cancelled"}
    await database.call("cancel_job", held[5]["job_id"])
    waits = [{"jobs": [{"kind": "part", "args": {"of": row["job_id"]}}], "blockers": [{"position": 1}]} for row in held]
    assert await worker.block(held, waits) == lost
    rows = await database.fetch(
        "select b.job_id, (p.args ->> 'of')::bigint as owner"
        " from leasehold.job_blockers b join leasehold.jobs p on p.id = b.chain_id"
    )
    assert len(rows) == 99
    assert all(row["job_id"] == row["owner"] for row in rows)


async def test_repeated_ids_empty_arrays_and_nulls_are_harmless(database: Database, worker: SqlWorker) -> None:
    held = await worker.given()
    assert await worker.block([], []) == {}
    assert await database.call("block_jobs", worker.incarnation, None, None, None) == []
    wait = {"jobs": [{"kind": "part"}], "blockers": [{"position": 1}]}
    assert await worker.block(held * 2, [wait, wait]) == {}
    row = await job(database, 1)
    assert (row["spared_attempts"], await edges(database, 1)) == (1, [(2, False, None)])
    assert [event for event, _ in await events(database, 1)] == ["created", "claimed", "blocked"]


async def test_what_it_waits_for_is_said_in_the_timeline(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    jobs = [{"kind": "part"}] * 2
    await worker.block(await worker.claim(), [{"jobs": jobs, "blockers": [{"position": 1}, {"position": 2}]}])
    await complete_all(worker, "part")
    await worker.block(await worker.claim(), [{"jobs": jobs, "blockers": [{"position": 1}]}])
    rows = await database.call("get_job_timeline", 1)
    said = [row["message"] for row in rows if row["event"] == "blocked"]
    assert said == ["waits for 2 chains", "waits for 1 chain"]
