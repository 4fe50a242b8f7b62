from __future__ import annotations

import json

import pytest
import trio

from leasehold.database import Database
from leasehold.database.border import listen
from tests.support.sql_chains import continued, ended
from tests.support.sql_jobs import empty, enqueue
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE


async def over(database: Database, chains: list[int | None], seconds: float | None = 60.0) -> dict[int, str | None]:
    return {row["chain_id"]: row["state"] for row in await database.call("watch_chains", chains, seconds)}


async def watched(database: Database) -> list[int]:
    return [row[0] for row in await database.fetch("select chain_id from leasehold.chain_waiters order by 1")]


async def test_only_chains_that_are_over_are_told_and_only_the_others_are_watched(
    database: Database, worker: SqlWorker
) -> None:
    chains: list[int | None] = [await ended(database, worker, state) for state in ("completed", "failed", "cancelled")]
    waiting = await enqueue(database)
    found = await over(database, [*chains, waiting, waiting, None])
    assert found == dict(zip(chains, ["completed", "failed", "cancelled"], strict=True))
    assert await watched(database) == [waiting]


async def test_what_get_chain_says_comes_with_it(database: Database, worker: SqlWorker) -> None:
    chain_id = await ended(database, worker, "completed", output=[1])
    [row] = await database.call("watch_chains", [chain_id], 1.0)
    assert tuple(row) == tuple((await database.call("get_chain", chain_id))[0])
    assert json.loads(row["output"]) == [1]


async def test_what_is_no_chain_is_told_without_a_state(database: Database, worker: SqlWorker) -> None:
    _, second = await continued(database, worker, "pay", "pack")
    assert await over(database, [99, second]) == {99: None, second: None}
    assert await watched(database) == []


async def test_without_seconds_it_only_looks(database: Database, subtests: pytest.Subtests) -> None:
    for seconds in [None, 0.0, -1.0]:
        await empty(database)
        with subtests.test(seconds=seconds):
            assert await over(database, [await enqueue(database)], seconds) == {}
            assert await watched(database) == []


async def test_watching_again_writes_only_when_half_of_the_time_is_over(database: Database) -> None:
    chain_id = await enqueue(database)
    written: list[object] = []
    for _ in range(2):
        await over(database, [chain_id], 60.0)
        written.append((await database.fetch("select ctid::text, expires_at from leasehold.chain_waiters"))[0])
    assert written[0] == written[1]
    await database.fetch("update leasehold.chain_waiters set expires_at = leasehold.clock() + interval '29 s'")
    await over(database, [chain_id], 60.0)
    [row] = await database.fetch("select expires_at > leasehold.clock() + interval '30 s' from leasehold.chain_waiters")
    assert row[0]


async def test_however_a_watched_chain_ends_it_is_notified_once_and_watched_no_more(
    database: Database, worker: SqlWorker
) -> None:
    for end in ["complete", "fail", "cancel", "outside", "delete"]:
        chain_id, other = await enqueue(database, "a"), await enqueue(database, "b")
        await over(database, [chain_id])
        claimed = await worker.claim(kinds=["a"])
        async with listen(database, "leasehold") as listening:
            if end == "complete":
                await worker.complete(claimed)
            elif end == "fail":
                await worker.fail(claimed, discard=[True])
            else:
                await database.call(
                    {"cancel": "cancel_job", "outside": "complete_chain", "delete": "delete_chain"}[end], chain_id
                )
            await worker.complete(await worker.claim(kinds=["b"]))
            await listening.notify("leasehold", "last", PATIENCE)
            heard: list[str] = []
            with trio.fail_after(PATIENCE):
                while "last" not in heard:
                    heard.append(await listening.payloads.receive())
        assert [each for each in heard if each.startswith("closed")] == [f"closed:{chain_id}"]
        assert await watched(database) == []
        assert other


async def test_a_chain_that_continues_is_not_over(database: Database, worker: SqlWorker) -> None:
    chain_id = await enqueue(database)
    await over(database, [chain_id])
    await worker.continue_with(await worker.claim(), [{"next": {"kind": "next"}}])
    assert await watched(database) == [chain_id]
    assert await over(database, [chain_id]) == {}


async def test_two_processes_may_wait_for_the_same_chains(database: Database) -> None:
    chains: list[int | None] = [await enqueue(database) for _ in range(20)]

    async def watch(name: str) -> None:
        async with database.reserve(name) as connection:
            for _ in range(10):
                await connection.call("watch_chains", chains if name == "one" else chains[::-1], 1000.0)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch, "one")
        nursery.start_soon(watch, "two")
    assert await watched(database) == chains
