from __future__ import annotations

import pytest

from leasehold.database import Caller, Database
from leasehold.errors import BadInput
from tests.support.sql_chains import continued, ended, enqueue_blocked
from tests.support.sql_worker import SqlWorker


async def graph(caller: Caller, chain_id: int, most: int = 100) -> dict[int, list[int]]:
    """What each chain waits for."""
    return {row["chain_id"]: row["waits_for"] for row in await caller.call("list_chain_graph", chain_id, most)}


async def test_parts_and_whole_are_found_from_either_side(database: Database, worker: SqlWorker) -> None:
    done = await ended(database, worker, "completed")
    failed = await ended(database, worker, "failed")
    open_part = await ended(database, worker, "open")
    whole = await enqueue_blocked(database, [done, failed, open_part])
    after = await enqueue_blocked(database, [whole], "after")
    expected = {whole: [done, failed, open_part], after: [whole], done: [], failed: [], open_part: []}
    for chain_id in (whole, after, open_part, failed):
        assert await graph(database, chain_id) == expected
    rows = {row["chain_id"]: row for row in await database.call("list_chain_graph", whole)}
    assert {chain: row["state"] for chain, row in rows.items()} == {
        whole: "open", after: "open", done: "completed", failed: "failed", open_part: "open",
    }  # fmt: skip
    assert (rows[whole]["kind"], rows[whole]["job_state"], rows[whole]["is_partial"]) == ("joined", "blocked", False)


async def test_what_a_later_job_of_a_chain_waited_for_counts(database: Database, worker: SqlWorker) -> None:
    part = await ended(database, worker, "open")
    (first,) = await continued(database, worker, "pay")
    job = [each for each in await worker.claim(kinds=["pay"]) if each["job_id"] == first]
    answer = await worker.continue_with(job, [{"next": {"kind": "ship", "blockers": [part]}}])
    assert answer[first][0] is None
    assert await graph(database, first) == {first: [part], part: []}
    (row, _) = await database.call("list_chain_graph", first)
    assert (row["kind"], row["job_kind"], row["jobs"]) == ("pay", "ship", 2)


async def test_it_is_cut_where_it_is_too_large(database: Database, worker: SqlWorker) -> None:
    parts = [await ended(database, worker, "open") for _ in range(5)]
    whole = await enqueue_blocked(database, parts)
    rows = await database.call("list_chain_graph", whole, 3)
    assert [row["chain_id"] for row in rows] == [whole, *parts[:2]]
    assert (rows[0]["waits_for"], rows[0]["is_partial"]) == (parts[:2], True)


async def test_a_circle_ends(database: Database, worker: SqlWorker) -> None:
    first = await enqueue_blocked(database, [await ended(database, worker, "open")], "first")
    second = await enqueue_blocked(database, [first], "second")
    await database.fetch("update leasehold.job_blockers set chain_id = $1 where job_id = $2", second, first)
    assert await graph(database, first) == {first: [second], second: [first]}


async def test_what_is_no_chain_has_no_graph(database: Database) -> None:
    assert await database.call("list_chain_graph", 404) == []
    with pytest.raises(BadInput, match="max_chains must be from"):
        await database.call("list_chain_graph", 1, 0)
