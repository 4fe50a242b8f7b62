from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_chains import broken_chains, claim_kind, complete_all, edges, enqueue_blocked, links
from tests.support.sql_jobs import empty, enqueue, enqueue_many, events, job, snapshot, state, states
from tests.support.sql_waits import freeze, heard
from tests.support.sql_worker import SqlWorker, ids

NEXT = {"next": {"kind": "b"}}


async def test_the_next_job_continues_the_chain_and_output_is_left_to_the_last(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given(kind="a", metadata='{"m": 1}', priority=5)
    assert await worker.continue_with(claimed, [{"next": {"kind": "b", "args": {"n": 1}}}], ["not kept"]) == {
        1: (None, [2])
    }
    first, second = await job(database, 1), await job(database, 2)
    assert (first["state"], first["output"], first["succeeded_by"], first["chain_id"]) == ("completed", None, 2, 1)
    assert (second["kind"], second["args"], second["state"]) == ("b", '{"n": 1}', "pending")
    assert (second["chain_id"], second["chain_position"], second["priority"]) == (1, 1, 5)
    await complete_all(worker, "b", "end")
    assert (await job(database, 2))["output"] == '"end"'
    assert await links(database, 1) == [(1, 0, "completed", 2), (2, 1, "completed", None)]
    assert await broken_chains(database) == []


async def test_without_next_the_chain_ends_with_the_output(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 4)
    answer = await worker.continue_with(claimed, [None, {}, {"jobs": []}, {"next": None, "jobs": None}], [1, 2, 3, 4])
    assert answer == {n: (None, []) for n in (1, 2, 3, 4)}
    assert [(await job(database, n))["output"] for n in (1, 2, 3, 4)] == ["1", "2", "3", "4"]


async def test_next_has_the_priority_of_its_predecessor_unless_it_names_one(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for given, expected in [({}, 7), ({"priority": None}, 7), ({"priority": 0}, 0), ({"priority": 9}, 9)]:
        await empty(database)
        with subtests.test(given=given, expected=expected):
            await enqueue(database, priority=7)
            await worker.continue_with(
                await worker.claim(), [{"next": {"kind": "b", **given}, "jobs": [{"kind": "c"}]}]
            )
            assert [(await job(database, n))["priority"] for n in (2, 3)] == [0, expected]


async def test_nulls_within_the_args_of_next_stay(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    args = {"a": None, "b": [None, {"c": None}]}
    await worker.continue_with(
        await worker.claim(), [{"next": {"kind": "b", "args": args, "metadata": args, "key": None}}]
    )
    row = await job(database, 2)
    assert (row["args"], row["metadata"]) == ('{"a": null, "b": [null, {"c": null}]}',) * 2


async def test_jobs_begin_chains_of_their_own(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    jobs = [{"kind": "c", "args": {"n": n}} for n in range(3)]
    assert await worker.continue_with(await worker.claim(), [{"jobs": jobs}], ["out"]) == {1: (None, [2, 3, 4])}
    rows = await database.fetch(
        "select chain_id, chain_position, args from leasehold.all_jobs where kind = 'c' order by id"
    )
    assert [tuple(row) for row in rows] == [(n + 2, 0, f'{{"n": {n}}}') for n in range(3)]
    assert (await job(database, 1))["output"] == '"out"'


async def test_fan_out_and_fan_in_in_one_statement(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    joined = {"kind": "join", "blockers": [{"position": 2}, {"position": 1}]}
    answer = await worker.continue_with(await worker.claim(), [{"jobs": [{"kind": "part"}] * 2, "next": joined}])
    assert answer == {1: (None, [2, 3, 4])}
    assert await states(database) == {1: "completed", 2: "pending", 3: "pending", 4: "blocked"}
    first, second = await claim_kind(worker, "part")
    await worker.complete([first], ["first"])
    assert await state(database, 4) == "blocked"
    await worker.complete([second], ["second"])
    assert await edges(database, 4) == [(3, True, "second"), (2, True, "first")]
    await complete_all(worker, "join", "all")
    assert await links(database, 1) == [(1, 0, "completed", 4), (4, 1, "completed", None)]
    assert await broken_chains(database, is_swept=True) == []


async def test_thousands_of_jobs_and_a_next_one_that_they_all_block(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    joined = {"kind": "join", "blockers": [{"position": n} for n in range(1, 3001)]}
    answer = await worker.continue_with(claimed, [{"jobs": [{"kind": "part"}] * 3000, "next": joined}])
    assert answer == {1: (None, list(range(2, 3003)))}
    assert await state(database, 3002) == "blocked"
    parts = await claim_kind(worker, "part")
    for start in range(0, 3000, 500):
        assert await state(database, 3002) == "blocked"
        await worker.complete(parts[start : start + 500], [start] * 500)
    assert await state(database, 3002) == "pending"
    assert [edge[2] for edge in await edges(database, 3002)] == [n // 500 * 500 for n in range(3000)]


async def test_many_jobs_continue_in_one_call_each_with_its_own(database: Database, worker: SqlWorker) -> None:
    made = await enqueue_many(database, [{"kind": "a", "priority": n % 5, "key": f"k{n}"} for n in range(60)])
    claimed = await worker.claim(60)

    def plan(n: int) -> dict[str, object] | None:
        if n % 3 == 0:
            return None
        blockers = [{"position": position} for position in range(1, n % 4 + 1)]
        parts: list[object] = [{"kind": "part"}] * (n % 4)
        return {"jobs": parts, "next": {"kind": "b", "key": f"k{n}", "blockers": blockers}}

    plans = [plan(n) for n in range(60)]
    order: list[int] = [row["job_id"] - made[0] for row in claimed]
    answer = await worker.continue_with(claimed, [plans[n] for n in order], [f"out {n}" for n in order])
    for n, job_id in enumerate(made):
        reason, new_ids = answer[job_id]
        assert reason is None
        assert new_ids is not None
        if plans[n] is None:
            assert (new_ids, (await job(database, job_id))["output"]) == ([], f'"out {n}"')
            continue
        following = await job(database, new_ids[-1])
        assert (following["chain_id"], following["key"], following["priority"]) == (job_id, f"k{n}", n % 5)
        assert [edge[0] for edge in await edges(database, new_ids[-1])] == new_ids[:-1]
    assert await broken_chains(database, is_swept=True) == []


async def test_a_job_may_wait_for_the_chain_that_makes_it(database: Database, worker: SqlWorker) -> None:
    """When the chain goes on, until its end; when it ends here, it is free at once."""
    first, second = await worker.given_all([{"kind": "a"}] * 2)
    after = [{"jobs": [{"kind": "after", "blockers": [n]}]} for n in (1, 2)]
    await worker.continue_with([first, second], [{**after[0], **NEXT}, after[1]], [None, "end"])
    assert await edges(database, 5) == [(2, True, "end")]
    assert (await state(database, 3), await state(database, 5)) == ("blocked", "pending")
    await complete_all(worker, "b", "later")
    assert await edges(database, 3) == [(1, True, "later")]
    assert await broken_chains(database, is_swept=True) == []


async def test_next_cannot_wait_for_its_own_chain(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    before = await snapshot(database)
    with pytest.raises(BadInput, match="would wait for its own chain"):
        await worker.continue_with(claimed, [{"next": {"kind": "b", "blockers": [1]}}])
    assert await snapshot(database) == before


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"then": 1}, "job 2: a continuation has next and jobs, not then"),
    ({"next": {"kind": ""}}, "kind must have 1 to 200 bytes, not 0"),
    ({"jobs": [{"kind": "a"}, {"kind": 5}]}, "job 2: kind must be a string, not number"),
    ({"jobs": [{"kind": "a"}, None]}, "job 2: is no JSON object"),
    ({"next": {"kind": "b", "blockers": [404]}}, "blocker 404 is no job"),
    ({"next": {"kind": "b", "blockers": [{"position": 1}]}}, "a blocker must be the id of a job"),
    ({"next": {"kind": "b", "idempotency_key": "x"}}, "job 2: next continues the chain and takes neither"),
]


async def test_a_bad_continuation_is_refused_and_nothing_is_written(database: Database, worker: SqlWorker) -> None:
    for continuation, complaint in REFUSED:
        await empty(database)
        claimed = await worker.given_all([{"kind": "a", "key": "k"}, {"kind": "a"}])
        before = await snapshot(database)
        with pytest.raises(BadInput) as refused:
            await worker.continue_with(claimed, [None, continuation], ["fine", None])
        assert str(refused.value).startswith(complaint)
        assert await snapshot(database) == before


async def test_a_repeated_call_refuses_nothing_and_makes_nothing(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a", "key": "k"}, {"kind": "a"}])
    await worker.continue_with(claimed, [NEXT, None], [None, "end"])
    before = await snapshot(database)
    assert await worker.continue_with(claimed, [NEXT, NEXT], ["x", "x"]) == {1: (None, None), 2: (None, None)}
    assert await worker.complete(claimed, ["x", "x"]) == {}
    assert await snapshot(database) == before


async def test_one_refused_job_does_not_hold_up_its_neighbours(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 3)
    await database.call("cancel_job", 2)
    answer = await worker.continue_with(claimed[::-1], [NEXT] * 3)
    assert answer == {1: (None, [4]), 2: ("cancelled", None), 3: (None, [5])}
    assert await states(database) == {1: "completed", 2: "cancelled", 3: "completed", 4: "pending", 5: "pending"}


async def test_repeated_ids_empty_arrays_and_nulls_are_harmless(database: Database, worker: SqlWorker) -> None:
    (first, second) = await worker.given_all([{"kind": "a"}] * 2)
    assert await worker.continue_with([], []) == {}
    assert await database.call("continue_jobs", worker.incarnation, None, None, None) == []
    assert await database.call("continue_jobs", worker.incarnation, [None], [None], [None]) == []
    answer = await worker.continue_with([first, first], [NEXT, NEXT])
    assert answer == {1: (None, [3])}
    rows = await database.call("continue_jobs", worker.incarnation, [2], [second["attempt"]], None)
    assert [(row["job_id"], row["reason"], row["new_ids"]) for row in rows] == [(2, None, [])]
    assert await broken_chains(database) == []


async def test_of_two_attempts_of_one_job_in_one_call_the_present_one_counts(
    database: Database, worker: SqlWorker
) -> None:
    await worker.release(await worker.given())
    await worker.claim()
    rows = await database.call(
        "continue_jobs", worker.incarnation, [1, 1], [1, 2], ['{"next": {"kind": "stale"}}', '{"next": {"kind": "b"}}']
    )
    assert [(row["job_id"], row["reason"], row["new_ids"]) for row in rows] == [(1, None, [2])]
    assert (await job(database, 2))["kind"] == "b"


async def test_the_key_is_given_on_and_next_may_have_it_again(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all(
        [{"kind": "a", "key": "k"}, {"kind": "b", "key": "k"}, {"kind": "a", "key": "k"}], 1
    )
    await worker.continue_with(claimed, [{"next": {"kind": "b", "key": "k"}}])
    assert ids(await worker.claim()) == [2]
    assert await broken_chains(database) == []


async def test_dependents_with_the_key_of_the_ended_job_run_one_after_the_other(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue(database, kind="a", key="k")
    for _ in range(3):
        await enqueue_blocked(database, [1], key="k")
    await worker.continue_with(await worker.claim(), [None])
    order: list[int] = []
    while claimed := await worker.claim():
        assert len(claimed) == 1
        order += ids(claimed)
        await worker.continue_with(claimed, [None])
    assert order == [2, 3, 4]


async def test_a_repeated_idempotency_key_makes_no_second_job(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 2)
    plan = {"jobs": [{"kind": "part", "idempotency_key": "x"}], "next": {"kind": "join", "blockers": [{"position": 1}]}}
    answer = await worker.continue_with(await worker.claim(), [plan, plan])
    part = (await database.fetch("select id from leasehold.jobs where kind = 'part'"))[0]["id"]
    assert [new_ids[0] for _, new_ids in answer.values() if new_ids] == [part, part]
    for _, new_ids in answer.values():
        assert new_ids is not None
        assert await edges(database, new_ids[1]) == [(part, False, None)]
    await complete_all(worker, "part")
    assert len(await claim_kind(worker, "join")) == 2


async def test_times_are_those_of_the_database(database: Database) -> None:
    noon = datetime(2999, 1, 1, 12, tzinfo=UTC)
    async with database.reserve("clocked") as connection:
        worker = SqlWorker(connection)
        await enqueue_many(connection, [{"kind": "a"}] * 3)
        await freeze(connection, "2999-01-01 11:00Z")
        claimed = await worker.claim()
        await freeze(connection, "2999-01-01 12:00Z")
        await worker.continue_with(claimed, [NEXT] * 3, ran_for=[30.0, None, 1e9])
        rows = await connection.fetch("select started_at, finished_at from leasehold.finished_jobs order by id")
        assert (await job(connection, 4))["created_at"] == noon
    assert {row["finished_at"] for row in rows} == {noon}
    assert [noon - row["started_at"] for row in rows] == [timedelta(seconds=30), timedelta(0), timedelta(hours=1)]


async def test_a_failed_link_that_is_retried_goes_on_with_the_chain(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    joined = await enqueue_blocked(database, [1])
    await worker.continue_with(await worker.claim(), [NEXT])
    await worker.fail(await worker.claim(), discard=[True])
    assert await state(database, joined) == "blocked"
    await database.call("retry_job", 3)
    assert [event for event, _ in await events(database, 3)][-1] == "retried"
    await worker.continue_with(await worker.claim(), [NEXT])
    await complete_all(worker, "b", "end")
    assert await edges(database, joined) == [(1, True, "end")]
    assert [link[:3] for link in await links(database, 1)] == [
        (1, 0, "completed"),
        (3, 1, "completed"),
        (4, 2, "completed"),
    ]


async def test_new_jobs_wake_an_idle_worker(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    claimed = await worker.given(queue="q")
    await worker.claim()
    assert await heard(database, lambda: worker.continue_with(claimed, [{"next": {"kind": "b", "queue": "q"}}])) == [
        "wake:q"
    ]
