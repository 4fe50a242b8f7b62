from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leasehold.checks import work
from leasehold.checks.verdicts import Check
from leasehold.checks.work import (
    check_claims,
    check_jobs,
    check_kinds,
    check_settings,
    check_upkeep,
    check_workers,
    judge_claims,
    judge_failure,
    judge_jobs,
    judge_upkeep,
)
from leasehold.database import Database, open_database
from leasehold.settings import Settings
from tests.support.sql_jobs import enqueue, state
from tests.support.sql_kinds import declare
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE

SILENT = "update leasehold.workers set heartbeat_at = heartbeat_at - interval '1 hour'"


async def workers(database: Database, *, notify: bool = True) -> Check:
    return await check_workers(database, Settings(notify=notify))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"notify": False, "poll_seconds": 60.0}, "a new job may wait that long"),
        ({"lease_seconds": 2.0, "renew_seconds": 0.5}, "lease_seconds = 2 is short"),
    ],
    ids=["poll", "lease"],
)
def test_settings_that_defeat_each_other_are_told(given: dict[str, Any], words: str) -> None:
    check = check_settings(Settings(**given), len(given))
    assert (check.verdict, words in check.detail) == ("advice", True)
    assert check_settings(Settings(), 0).verdict == "ok"


async def test_without_workers_and_jobs_there_is_nothing_to_say(database: Database) -> None:
    check = await workers(database)
    assert (check.verdict, check.detail) == ("ok", "0 alive")


async def test_jobs_without_a_worker_are_a_problem(database: Database) -> None:
    await database.call("enqueue_job", "echo")
    check = await workers(database)
    assert (check.verdict, check.advice) == ("problem", "start one: leasehold run worker")


async def test_a_worker_that_died_with_jobs_is_a_problem(database: Database) -> None:
    worker = SqlWorker(database, "late")
    await worker.register()
    await database.call("enqueue_job", "echo")
    await worker.claim(kinds=["echo"])
    assert (await workers(database)).verdict == "ok"
    await database.execute(f"{SILENT}; update leasehold.jobs set claimed_at = claimed_at - interval '1 hour'")
    check = await workers(database)
    assert check.verdict == "problem"
    assert "late on host (silent for 1h" in check.detail
    assert "died with 1 jobs in hand" in check.detail


async def test_a_worker_that_died_with_empty_hands_is_mentioned(database: Database) -> None:
    for name in ("one", "two"):
        await SqlWorker(database, name).register()
    await database.execute(SILENT)
    check = await workers(database)
    assert (check.verdict, "died without a word: one on host" in check.detail) == ("advice", True)


async def test_a_worker_that_died_hides_nothing_of_the_living(database: Database) -> None:
    """It stays in the list for a day."""
    await SqlWorker(database, "dead").register()
    await database.execute(SILENT)
    await SqlWorker(database, "busy").register()
    await database.execute("update leasehold.workers set backoff = 'memory 87 %' where worker_id = 'busy'")
    check = await workers(database)
    assert check.verdict == "advice"
    assert check.detail.startswith("1 alive; backing off: busy on host: memory 87 %; died without a word: dead on host")


async def test_a_worker_that_hears_nothing_is_mentioned_unless_nobody_wants_to_hear(database: Database) -> None:
    await SqlWorker(database, "deaf").register(listening=False, heartbeat_seconds=30.0)
    check = await workers(database)
    assert (check.verdict, "deaf to notifications" in check.detail) == ("advice", True)
    assert (await workers(database, notify=False)).verdict == "ok"


async def test_a_worker_over_http_has_no_listener_and_is_not_called_deaf(database: Database) -> None:
    await SqlWorker(database, "other").register(listening=False)
    check = await workers(database)
    assert (check.verdict, check.detail) == ("ok", "1 alive")


async def test_a_worker_of_another_version_is_mentioned(database: Database) -> None:
    await SqlWorker(database, "old").register()
    await database.execute(
        "update leasehold.workers set version = '0.0.1', started_at = started_at - interval '1 hour'"
    )
    await SqlWorker(database, "new").register()
    check = await workers(database)
    assert (check.verdict, "old on host" in check.detail) == ("advice", True)


async def test_workers_that_back_off_are_named_with_their_readings_and_what_to_do(database: Database) -> None:
    for name in ("busy", "free", "full"):
        await SqlWorker(database, name).register()
    backing_off = "update leasehold.workers set backoff = '{}' where worker_id = '{}'"
    await database.execute(backing_off.format("CPU 97 % of 2 CPUs (limit 90 %)", "busy"))
    check = await workers(database)
    assert (check.verdict, check.detail) == (
        "advice",
        "3 alive; backing off: busy on host: CPU 97 % of 2 CPUs (limit 90 %)",
    )
    assert (
        check.advice == "CPU: see what else runs there; a worker meant to use the whole machine takes --cpu-backoff 1"
    )
    await database.execute(backing_off.format("memory 87 % of 2.0 GiB (limit 85 %)", "full"))
    check = await workers(database)
    assert check.detail.endswith("; full on host: memory 87 % of 2.0 GiB (limit 85 %)")
    assert (check.advice or "").startswith("memory: fewer slots, or more of it. CPU: ")


async def test_of_many_workers_that_back_off_three_are_named(database: Database) -> None:
    for number in range(5):
        await SqlWorker(database, f"w{number}").register()
    await database.execute("update leasehold.workers set backoff = 'because'")
    check = await workers(database)
    assert check.detail.endswith("; w2 on host: because; and 2 more")
    assert check.advice == "see the log of that worker"


async def test_jobs_that_nobody_serves_are_a_problem_once_a_minute_is_over(database: Database) -> None:
    await SqlWorker(database).register(kinds=["echo"])
    for _ in range(2):
        await database.call("enqueue_job", "parse", queue="docs")
    assert (await check_jobs(database)).detail == "none is overdue"
    await database.execute("update leasehold.jobs set run_at = '2020-01-01Z'")
    check = await check_jobs(database)
    assert check.verdict == "problem"
    assert check.detail.startswith("nobody serves kind parse in queue docs (2 ready, the first for ")
    assert check.detail.endswith(", since 2020-01-01 00:00:00.000 UTC)")
    await database.call("pause_queue", "docs")
    check = await check_jobs(database)
    assert (check.verdict, check.detail[:42]) == ("advice", "paused, and jobs wait: kind parse in queue")
    await database.call("enqueue_job", "odd")
    await database.execute("update leasehold.jobs set run_at = '2020-01-01Z'")
    check = await check_jobs(database)
    assert check.verdict == "problem"
    assert "nobody serves kind odd in queue default" in check.detail
    assert "paused, and jobs wait: kind parse in queue docs" in check.detail


def test_everything_that_is_wrong_with_jobs_is_told_and_long_lists_are_cut() -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC)
    kinds = [
        {"queue": "q", "kind": f"k{n}", "reason": "unserved", "jobs": 1000, "oldest_run_at": at, "waits_for": 61.0}
        for n in range(5)
    ]
    detail = judge_jobs(7, kinds).detail
    assert detail.startswith(
        "7 overdue, and no worker or reaper sees to it; nobody serves kind k0 in queue q (1,000 or more ready"
    )
    assert detail.endswith("; and 2 more")


@pytest.fixture(autouse=True)
def a_machine_that_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a claim lasts longer than on others, which proves nothing here."""
    monkeypatch.setattr(work, "SLOW_MILLISECONDS", PATIENCE * 1000)
    monkeypatch.setattr(work, "PATIENCE_SECONDS", PATIENCE)


async def test_a_claim_is_timed_and_undone(database: Database) -> None:
    await enqueue(database)
    check = await check_claims(database)
    assert (check.verdict, check.detail.startswith("a claim of one job takes ")) == ("ok", True)
    assert await state(database, 1) == "pending"
    assert await database.fetch("select from leasehold.workers") == []


async def test_a_job_that_nobody_takes_though_nothing_is_in_its_way_is_named(database: Database) -> None:
    await enqueue(database, kind="a")
    assert (
        await check_claims(database, overlooked_after=0.0)
    ).verdict == "ok"  # nobody serves it: the check of jobs says so
    await SqlWorker(database).register(queues=["default"], kinds=["a"])
    check = await check_claims(database, overlooked_after=0.0)
    assert check.verdict == "problem"
    assert "job 1 of kind a in queue default waits for" in check.detail
    assert "1 worker(s) with a free slot serve it" in check.detail
    assert (await check_claims(database)).verdict == "ok"


async def test_a_session_that_keeps_a_job_from_workers_with_free_slots_is_named(database: Database) -> None:
    await enqueue(database)
    await SqlWorker(database).register()
    async with database.reserve("editor") as editor:
        await editor.execute("begin")
        await editor.fetch("select from leasehold.jobs for update")
        check = await check_claims(database, overlooked_after=0.0)
        await editor.execute("rollback")
    assert check.verdict == "problem"
    assert 'application "leasehold editor"' in check.detail
    assert check.advice == "end that transaction; by hand: select pg_terminate_backend(pid)"


async def test_of_several_jobs_that_nobody_takes_the_one_before_all_others_is_named(database: Database) -> None:
    for kind, priority in (("a", 0), ("b", 5), ("c", 9)):
        await enqueue(database, kind=kind, priority=priority)
    worker = SqlWorker(database)
    await worker.register(queues=["default"], kinds=["a", "b"], slots=1)
    assert "job 2 of kind b in queue default" in (await check_claims(database, overlooked_after=0.0)).detail
    await database.call("heartbeat_worker", worker.incarnation, 1, "ready", True)
    assert (await check_claims(database, overlooked_after=0.0)).verdict == "ok"  # nobody has a free slot


def test_a_slow_claim_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "SLOW_MILLISECONDS", 50.0)
    assert judge_claims(None, 3.25).detail == "a claim of one job takes 3.2 ms"
    check = judge_claims(None, 233.0)
    assert (check.verdict, check.detail) == ("problem", "a claim of one job takes 233 ms")


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        ("out of shared memory [SQLSTATE 53200]", "max_locks_per_transaction"),
        ("could not extend file [SQLSTATE 53100]", "room on the disk"),
        ("the database did not answer in time", "log of Postgres"),
    ],
)
def test_a_claim_that_fails_says_what_to_do(error: str, advice: str) -> None:
    check = judge_failure(error)
    assert (check.verdict, error in check.detail, advice in (check.advice or "")) == ("problem", True, True)


async def test_versions_that_disagree_are_named_as_long_as_workers_run_both(database: Database) -> None:
    await declare(database, {"kind": "charge", "queue": "a"}, version="1")
    await declare(database, {"kind": "charge", "queue": "b"}, version="2")
    found = await check_kinds(database)
    assert (found.verdict, found.detail) == ("ok", "1 declared, and the live workers agree")
    await SqlWorker(database).register(kinds=["charge"], app_version="1")
    found = await check_kinds(database)
    assert found.verdict == "advice"
    assert found.detail == "versions disagree: charge (queue: version 1 runs, 2 wins)"


async def test_two_apps_with_one_name_of_a_kind_are_named(database: Database) -> None:
    await declare(database, {"kind": "charge", "queue": "a"}, app="shop:app")
    await declare(database, {"kind": "charge", "queue": "b"}, app="bank:app")
    await SqlWorker(database).register(kinds=["charge"], app_version="1")
    found = await check_kinds(database)
    assert found.detail == "versions disagree: charge (queue: version 1 of shop:app runs, 1 of bank:app wins)"
    assert "no kind of one may have the name of another's" in (found.advice or "")


@asynccontextmanager
async def connected_as(database_url: str, name: str) -> AsyncGenerator[None]:
    async with open_database(database_url, application_name=name) as session:
        await session.fetch("select 1")
        yield


async def test_processes_are_known_by_the_names_of_their_sessions(database: Database, database_url: str) -> None:
    async with (
        connected_as(database_url, "leasehold scheduler+reaper 7"),
        connected_as(database_url, "leasehold reaper 8 janitor"),
        connected_as(database_url, "leasehold reaper 8 reaper"),
        connected_as(database_url, "leasehold worker 9"),
    ):
        check = await check_upkeep(database)
    assert (check.verdict, check.detail) == ("ok", "connected: 1 schedulers, 2 reapers")


async def test_without_a_scheduler_what_is_scheduled_is_a_problem(database: Database, database_url: str) -> None:
    async with connected_as(database_url, "leasehold reaper 8"):
        assert (await check_upkeep(database)).verdict == "advice"
        await enqueue(database, delay=timedelta(minutes=1))
        check = await check_upkeep(database)
    assert (check.verdict, check.advice) == ("problem", "start one: leasehold run scheduler")


@pytest.mark.parametrize(
    ("schedulers", "reapers", "verdict"), [(1, 0, "advice"), (0, 1, "advice"), (0, 0, "advice"), (2, 3, "ok")]
)
def test_a_missing_reaper_is_felt_after_days(schedulers: int, reapers: int, verdict: str) -> None:
    assert judge_upkeep(schedulers, reapers, is_anything_scheduled=False).verdict == verdict
