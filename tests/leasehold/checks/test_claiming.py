from __future__ import annotations

import pytest

from leasehold.checks import claiming
from leasehold.checks.claiming import check_claims, judge_claims, judge_failure
from leasehold.database import Database
from tests.support.sql_jobs import enqueue, state
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE


@pytest.fixture(autouse=True)
def a_machine_that_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a claim lasts longer than on others, which proves nothing here."""
    monkeypatch.setattr(claiming, "SLOW_MILLISECONDS", PATIENCE * 1000)
    monkeypatch.setattr(claiming, "PATIENCE_SECONDS", PATIENCE)


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


def test_a_slow_claim_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claiming, "SLOW_MILLISECONDS", 50.0)
    assert judge_claims([], 3.25).detail == "a claim of one job takes 3.2 ms"
    check = judge_claims([], 233.0)
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
