from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

import pytest
import trio

from leasehold.database import Database
from leasehold.errors import UnknownJob, WrongState
from tests.support.sql_chains import continued, ended, enqueue_blocked
from tests.support.sql_jobs import empty, enqueue, events, snapshot, state, states
from tests.support.sql_payloads import add as add_payload
from tests.support.sql_waits import heard, meet, open_transaction, until_tried
from tests.support.sql_worker import SqlWorker, insist
from tests.support.waiting import PATIENCE


async def delete(database: Database, chain_id: int, cascade: bool = False) -> Sequence[int]:
    chains = await database.call_value("delete_chain", chain_id, cascade)
    assert isinstance(chains, list)
    return cast("list[int]", chains)


async def rows_about(database: Database, *job_ids: int) -> dict[str, int]:
    """How many rows of each table know these jobs."""
    found: dict[str, int] = {}
    for table, column in (
        ("jobs", "id"),
        ("finished_jobs", "id"),
        ("job_blockers", "job_id"),
        ("job_events", "job_id"),
        ("job_logs", "job_id"),
        ("job_progress", "job_id"),
    ):
        rows = await database.fetch(f"select count(*) from leasehold.{table} where {column} = any ($1)", list(job_ids))
        found |= {table: rows[0][0]} if rows[0][0] else {}
    return found


async def test_the_whole_chain_goes_with_all_that_is_known_of_it_and_leaves_one_event(
    database: Database, worker: SqlWorker
) -> None:
    ids = await continued(database, worker, "pay", "pack", "ship")
    other = await enqueue(database)
    await database.execute(
        f"insert into leasehold.job_logs values ({ids[0]}, now(), 1, 'info', 'hello');"
        f"insert into leasehold.job_progress values ({ids[2]}, 1, 0.5, null, now())"
    )
    assert await delete(database, ids[0]) == [ids[0]]
    assert await rows_about(database, *ids) == {"job_events": 1}
    [event] = await database.call("get_job_timeline", ids[0])
    told = json.loads(event["detail"])
    assert (event["event"], told["kind"], told["state"], told["jobs"]) == ("deleted", "pay", "open", 3)
    assert await state(database, other) == "pending"


async def test_a_chain_that_is_over_is_deleted_as_well(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for over in ["completed", "failed", "cancelled"]:
        await empty(database)
        with subtests.test(over=over):
            chain_id = await ended(database, worker, over)
            assert await delete(database, chain_id) == [chain_id]
            assert await database.call("get_chain", chain_id) == []


async def test_a_worker_that_runs_it_is_told_that_it_is_not_there_any_more(
    database: Database, worker: SqlWorker
) -> None:
    chain_id = await enqueue(database, key="k")
    behind = await enqueue(database, key="k")
    claimed = await worker.claim()
    assert await heard(database, lambda: delete(database, chain_id)) == [f"lost:{chain_id}:1:not_found"]
    assert await worker.renew(claimed) == {chain_id: "not_found"}
    assert await worker.complete(claimed) == {chain_id: "not_found"}
    assert await states(database) == {behind: "pending"}


async def test_it_is_refused_while_jobs_outside_wait_for_it_and_says_which(database: Database) -> None:
    part = await enqueue(database, "part")
    waiting = [await enqueue_blocked(database, [part], "report") for _ in range(5)]
    before = await snapshot(database)
    named = ", ".join(rf"job {each} \(report\)" for each in waiting[:3])
    with pytest.raises(WrongState, match=f"chain {part} cannot be deleted: {named} and 2 more wait for it"):
        await delete(database, part)
    with pytest.raises(WrongState):
        await delete(database, part, cascade=True)
    assert await snapshot(database) == before


async def test_who_has_its_output_or_has_ended_does_not_wait(database: Database, worker: SqlWorker) -> None:
    part = await enqueue(database, "part")
    whole = await enqueue_blocked(database, [part])
    given_up = await enqueue_blocked(database, [part])
    await database.call("cancel_job", given_up)
    await worker.complete(await worker.claim(kinds=["part"]), [{"n": 1}])
    assert await delete(database, part) == [part]
    [edge] = await database.call("get_job_blockers", whole)
    assert json.loads(edge["output"]) == {"n": 1}
    assert await state(database, whole) == "pending"


async def test_without_cascade_what_it_waits_for_stays(database: Database) -> None:
    part = await enqueue(database, "part")
    whole = await enqueue_blocked(database, [part])
    assert await delete(database, whole) == [whole]
    assert await states(database) == {part: "pending"}
    assert await delete(database, part) == [part]


async def test_a_cascade_goes_down_to_the_last_and_comes_to_each_once(database: Database, worker: SqlWorker) -> None:
    """A diamond, and a chain that has completed long ago, and a later job of a chain that waits."""
    done = await ended(database, worker, "completed")
    bottom = await enqueue_blocked(database, [done], "bottom")
    left, right = await enqueue_blocked(database, [bottom]), await enqueue_blocked(database, [bottom])
    first = await enqueue(database, "first")
    [claimed] = await worker.claim(kinds=["first"])
    await worker.continue_with([claimed], [{"next": {"kind": "top", "blockers": [left, right, bottom]}}])
    assert await delete(database, first, cascade=True) == sorted([done, bottom, left, right, first])
    assert await states(database) == {}


async def test_what_somebody_outside_waits_for_survives_a_cascade_with_all_below_it(database: Database) -> None:
    lowest = await enqueue(database, "lowest")
    shared = await enqueue_blocked(database, [lowest])
    mine = await enqueue(database, "mine")
    top = await enqueue_blocked(database, [shared, mine], "top")
    outside = await enqueue_blocked(database, [shared], "outside")
    assert await delete(database, top, cascade=True) == [mine, top]
    assert await states(database) == {lowest: "pending", shared: "blocked", outside: "blocked"}
    assert await delete(database, outside, cascade=True) == [lowest, shared, outside]


async def test_what_is_not_there_cannot_be_deleted(database: Database, worker: SqlWorker) -> None:
    first, second = await continued(database, worker, "pay", "pack")
    for missing in (99, 0, None):
        with pytest.raises(UnknownJob):
            await database.call("delete_chain", missing)
    with pytest.raises(UnknownJob, match=f"no chain {second}; that is a later job of chain {first}"):
        await delete(database, second)


async def test_a_chain_that_continues_at_that_moment_is_deleted_with_its_new_job(
    database: Database, worker: SqlWorker
) -> None:
    chain_id = await enqueue(database)
    claimed = await worker.claim()
    deleted = await meet(
        database,
        lambda first: worker.over(first).continue_with(claimed, [{"next": {"kind": "next"}}]),
        lambda connection: connection.call_value("delete_chain", chain_id),
    )
    assert deleted == [chain_id]
    assert await states(database) == {}


async def test_a_chain_that_finds_new_blockers_at_that_moment_takes_them_along(
    database: Database, worker: SqlWorker
) -> None:
    chain_id = await enqueue(database)
    claimed = await worker.claim()
    deleted = await meet(
        database,
        lambda first: worker.over(first).block(claimed, [{"jobs": [{"kind": "part"}], "blockers": [{"position": 1}]}]),
        lambda connection: connection.call_value("delete_chain", chain_id, True),
    )
    assert deleted == [chain_id, chain_id + 1]
    assert await states(database) == {}


async def test_a_completion_that_meets_a_deletion_is_told_that_the_job_is_not_there(
    database: Database, worker: SqlWorker
) -> None:
    chain_id = await enqueue(database)
    claimed = await worker.claim()
    answers: list[object] = []

    async def complete() -> None:
        async with database.reserve("second") as connection:
            answers.append(await insist(lambda: worker.over(connection).complete(claimed)))

    async with trio.open_nursery() as nursery, open_transaction(database, "first") as first:
        await first.call("delete_chain", chain_id)
        nursery.start_soon(complete)
        await until_tried(database, "second")
        await first.execute("commit")
    assert answers == [{chain_id: "not_found"}]
    assert await states(database) == {}


async def test_a_retry_that_meets_a_deletion_finds_no_job(database: Database, worker: SqlWorker) -> None:
    chain_id = await ended(database, worker, "failed")
    with pytest.raises(UnknownJob):
        await meet(
            database,
            lambda first: first.call("delete_chain", chain_id),
            lambda second: second.call("retry_job", chain_id),
        )
    assert await states(database) == {}
    assert [event for event, _ in await events(database, chain_id)] == ["deleted"]


async def test_a_thousand_blockers_go_in_one_call(database: Database) -> None:
    rows = await database.fetch(
        "select job_id from leasehold.enqueue_jobs("
        "(select jsonb_agg(jsonb_build_object('kind', 'part')) from generate_series(1, 1000)))"
    )
    top = await enqueue_blocked(database, [row[0] for row in rows], "top")
    (row,) = await database.fetch("select leasehold.delete_chain($1, true)", top, timeout=PATIENCE)
    assert len(row[0]) == 1001
    assert await states(database) == {}


async def test_args_and_outputs_in_the_payload_store_are_hidden_and_other_payloads_stay(database: Database) -> None:
    job_id = await enqueue(database)
    claim, saved = await add_payload(database, job_id=job_id, is_claim=True), await add_payload(database, job_id=job_id)
    await database.call("delete_chain", job_id)
    rows = await database.fetch("select id from leasehold.payloads where expired_at is not null")
    assert [row["id"] for row in rows] == [claim]
    assert [row["id"] for row in await database.call("get_payload", saved)] == [saved]
