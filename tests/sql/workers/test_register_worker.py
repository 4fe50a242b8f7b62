from __future__ import annotations

from uuid import uuid4

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_worker import SqlWorker


async def test_a_worker_is_known_as_it_said(database: Database) -> None:
    worker = SqlWorker(database, "ada")
    await worker.register(queues=["x"], kinds=["a", "b"], slots=5, listening=False)
    (row,) = await database.fetch("select * from leasehold.workers")
    assert (row["worker_id"], row["queues"], row["kinds"], row["slots"]) == ("ada", ["x"], ["a", "b"], 5)
    assert (row["listening"], row["state"], row["idle"], row["stopped_at"]) == (False, "ready", False, None)
    assert row["incarnation"] == worker.incarnation
    assert row["started_at"] == row["heartbeat_at"]


async def test_two_starts_of_one_worker_are_two_incarnations(database: Database) -> None:
    for _ in range(2):
        await SqlWorker(database, "ada").register()
    assert len(await database.fetch("select from leasehold.workers where worker_id = 'ada'")) == 2


async def test_without_queues_and_kinds_it_serves_all(database: Database, worker: SqlWorker) -> None:
    await database.fetch(
        "select leasehold.register_worker($1, 'ada', 'host', 7, '1.0', null, null, 1, true)", worker.incarnation
    )
    (row,) = await database.fetch("select queues, kinds from leasehold.workers")
    assert (row["queues"], row["kinds"]) == ([], [])


async def test_registering_again_renews_the_heartbeat(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    (before,) = await database.fetch("select * from leasehold.workers")
    await worker.register()
    (after,) = await database.fetch("select * from leasehold.workers")
    assert after["heartbeat_at"] > before["heartbeat_at"]
    assert after["started_at"] == before["started_at"]


async def test_a_worker_has_the_name_it_gives_itself_or_one_made_from_its_id(database: Database) -> None:
    names: list[object] = []
    for name in (None, "", "ada lovelace"):
        worker = SqlWorker(database, f"w{len(names)}")
        names.append(
            await database.call_value(
                "register_worker",
                worker.incarnation,
                worker.name,
                "host",
                1,
                "0",
                [],
                [],
                3,
                True,
                name,
                "app 7",
                2**31,
                1.5,
            )
        )
    assert names == [await database.call_value("name_worker", f"w{number}") for number in (0, 1)] + ["ada lovelace"]
    row = (await database.call("list_workers"))[0]
    assert (row["name"], row["app_version"], row["memory_limit"], row["cpu_limit"]) == (names[0], "app 7", 2**31, 1.5)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf"), 1e13])
async def test_heartbeats_that_nobody_can_reckon_with_are_refused(
    seconds: float, database: Database, worker: SqlWorker
) -> None:
    """One such row, and nobody could tell who is alive: heartbeats of all workers failed."""
    with pytest.raises(BadInput, match="heartbeat_seconds must be above 0 and at most 86400"):
        await worker.register(heartbeat_seconds=seconds)
    await worker.register(heartbeat_seconds=86400.0)
    with pytest.raises(BadInput, match="heartbeat_seconds must be"):
        await database.call("heartbeat_worker", worker.incarnation, 0, "ready", True, heartbeat_seconds=seconds)
    [row] = await database.fetch("select heartbeat_seconds from leasehold.workers")
    assert row["heartbeat_seconds"] == 86400.0


async def test_a_back_off_without_end_is_shown_as_one_of_a_day(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    for told, shown in [(1e12, 86400), (float("nan"), 86400), (-1e12, 0), (None, None)]:
        await database.call(
            "heartbeat_worker", worker.incarnation, 0, "ready", True, backoff="memory", backoff_for=told
        )
        [row] = await database.fetch(
            "select extract(epoch from backoff_until - heartbeat_at) as seconds from leasehold.workers"
        )
        assert row["seconds"] == shown


@pytest.mark.parametrize("missing", ["incarnation", "worker_id", "host", "pid", "version", "slots", "listening"])
async def test_a_worker_that_does_not_say_who_it_is_is_refused(missing: str, database: Database) -> None:
    names = ["incarnation", "worker_id", "host", "pid", "version", "queues", "kinds", "slots", "listening"]
    given = dict(zip(names, [uuid4(), "w1", "host", 1, "0", None, None, 3, True], strict=True))
    with pytest.raises(BadInput, match=f"{missing} is missing"):
        await database.call("register_worker", *({**given, missing: None}).values())
    assert await database.call("list_workers") == []


@pytest.mark.parametrize(
    ("active_jobs", "state", "listening", "complaint"),
    [
        (None, "ready", True, "active_jobs must be 0 or more, not null"),
        (-1, "ready", True, "active_jobs must be 0 or more, not -1"),
        (0, None, True, "state must be ready, paused or draining, not null"),
        (0, "asleep", True, "state must be ready, paused or draining, not asleep"),
        (0, "stopped", True, "state must be ready, paused or draining, not stopped"),
        (0, "ready", None, "listening is missing"),
    ],
)
async def test_a_heartbeat_that_says_nothing_of_use_is_refused(
    active_jobs: int | None,
    state: str | None,
    listening: bool | None,
    complaint: str,
    database: Database,
    worker: SqlWorker,
) -> None:
    await worker.register()
    with pytest.raises(BadInput, match=complaint):
        await database.call("heartbeat_worker", worker.incarnation, active_jobs, state, listening)
