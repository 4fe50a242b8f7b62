"""A list of jobs that is too long for one statement, enqueued in parts of two."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from leasehold import Client, NewJob, Unique
from leasehold.errors import BadInput, UniqueConflict, UnknownJob
from leasehold.events import JobCreated
from leasehold.jobs import encoding
from leasehold.sync.client import SyncClient
from tests.leasehold.client.conftest import with_client

JOBS = [NewJob(kind=f"kind{number}") for number in range(5)]
TAKEN = [NewJob(kind="taken", unique=Unique(key="k", on_conflict="reject")) for _ in range(2)]


@pytest.fixture(autouse=True)
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "FEW", 1)
    monkeypatch.setattr(encoding, "MOST_IN_PART", 2)


@with_client()
async def test_all_exist_in_their_order_and_are_told_after_the_commit(client: Client) -> None:
    told: list[str] = []
    client.subscribe(JobCreated, lambda event: told.append(event.kind))
    made = await client.enqueue_many(JOBS)
    assert [(await client.get(job_id)).kind for job_id in made] == [job.kind for job in JOBS] == told


@with_client()
async def test_none_exists_where_one_is_refused(client: Client) -> None:
    told: list[str] = []
    client.subscribe(JobCreated, lambda event: told.append(event.kind))
    with pytest.raises(UniqueConflict):
        await client.enqueue_many([*JOBS, *TAKEN])
    with pytest.raises(BadInput):
        await client.enqueue_many([*JOBS, NewJob(kind="")])
    assert (await client.jobs.list(), told) == ([], [])


@with_client()
async def test_in_a_transaction_of_the_callers_they_are_there_with_its_commit(client: Client) -> None:
    async def enqueue(fails: bool) -> None:
        async with client.transaction() as transaction:
            await client.enqueue_many(JOBS, connection=transaction)
            if fails:
                raise KeyError("no")

    with pytest.raises(KeyError):
        await enqueue(fails=True)
    assert await client.jobs.list() == []
    await enqueue(fails=False)
    assert len(await client.jobs.list()) == len(JOBS)


def test_the_synchronous_client_makes_all_or_none_as_well(database_url: str) -> None:
    with SyncClient(database_url) as client:
        told: list[str] = []
        client.subscribe(JobCreated, lambda event: told.append(event.kind))
        with pytest.raises(UniqueConflict):
            client.enqueue_many([*JOBS, *TAKEN])
        assert told == []
        made = client.enqueue_many(JOBS)
        assert [client.get(job_id).kind for job_id in made] == [job.kind for job in JOBS] == told
        assert min(made) > len(JOBS)  # ids of what was rolled back are not given out again


class Awaited:
    async def __call__(self, _sent: int) -> None:
        raise AssertionError("never called")


def answers_with_one(sent: int) -> object:
    return Awaited()(sent)


AWAITED: tuple[tuple[Any, str], ...] = (
    (Awaited().__call__, "give it a function that is no `async def`"),
    (Awaited(), "give it a function that is no `async def`"),
    (answers_with_one, "give it a function that is no `async def`"),
    (7, "progress must be a function"),
)


def raise_mine(_sent: int) -> None:
    raise BrokenPipeError("mine")


@with_client()
async def test_progress_tells_how_many_are_sent_before_the_commit_and_what_it_raises_undoes_them(
    client: Client,
) -> None:
    told: list[int] = []
    await client.enqueue_many(JOBS, progress=told.append)
    assert told == [2, 4, 5]
    await client.enqueue_with_outcomes(JOBS[:1], progress=told.append)
    async with client.transaction() as transaction:
        await client.enqueue_many(JOBS[:3], connection=transaction, progress=told.append)
    assert told == [2, 4, 5, 1, 2, 3]
    before = len(await client.jobs.list())
    for jobs in (JOBS, JOBS[:1]):
        with pytest.raises(ZeroDivisionError):
            await client.enqueue_many(jobs, progress=lambda _sent: 1 // 0)
    assert len(await client.jobs.list()) == before


@with_client()
async def test_progress_is_a_function_that_nobody_awaits(client: Client) -> None:
    for wrong, reason in AWAITED:
        with pytest.raises(BadInput, match=reason):
            await client.enqueue_many(JOBS, progress=wrong)
    assert await client.jobs.list() == []


def test_the_synchronous_client_tells_progress_as_well(database_url: str) -> None:
    told: list[int] = []
    with SyncClient(database_url) as client:
        client.enqueue_many(JOBS, progress=told.append)
        with client.transaction() as connection:
            client.enqueue_many(JOBS[:3], connection=connection, progress=told.append)
        assert told == [2, 4, 5, 2, 3]
        for jobs in (JOBS, JOBS[:1]):
            with pytest.raises(ZeroDivisionError):
                client.enqueue_many(jobs, progress=lambda _sent: 1 // 0)
        for wrong, reason in AWAITED:
            with pytest.raises(BadInput, match=reason):
                client.enqueue_many(JOBS, progress=wrong)
        with pytest.raises(BrokenPipeError, match="mine"):
            client.enqueue_many(JOBS, progress=raise_mine)
        with pytest.raises(UnknownJob):
            client.get(client.enqueue("last") - 1)


def test_who_rolls_back_by_psycopgs_own_error_is_told_that_nothing_was_done(database_url: str) -> None:
    """psycopg ends the block and raises nothing, and the ids that came back were those of no jobs."""

    def roll_back(_sent: int) -> None:
        raise psycopg.Rollback

    with SyncClient(database_url) as client:
        with pytest.raises(BadInput, match="nothing was done"):
            client.enqueue_many(JOBS, progress=roll_back)
        with pytest.raises(UnknownJob):
            client.get(client.enqueue("last") - 1)


def test_parts_are_short_by_number_and_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    def lengths(jobs: list[NewJob[Any]]) -> list[int]:
        return [len(part) for part in encoding.in_parts(jobs)]

    assert lengths(JOBS) == [2, 2, 1]
    assert lengths(JOBS[:1]) == [1]
    monkeypatch.setattr(encoding, "MOST_BYTES_IN_PART", 100)
    wide = NewJob(kind="wide", args={"text": "x" * 80})
    assert lengths([JOBS[0], wide, wide, JOBS[1], JOBS[2]]) == [2, 2, 1]
    assert lengths([wide, NewJob(kind="wider", args={"text": "x" * 200})]) == [1, 1]


@with_client()
async def test_middlewares_may_make_a_list_of_any_length_of_a_short_one_and_none(client: Client) -> None:
    made: list[NewJob[Any]] = []

    async def instead(_jobs: Any, call_next: Any) -> Any:
        return await call_next(made)

    client.enqueue_middleware(instead)
    assert await client.enqueue_with_outcomes(JOBS[:1]) == []
    made += JOBS
    assert len(await client.enqueue_with_outcomes(JOBS[:1])) == len(JOBS)
    assert len(await client.jobs.list()) == len(JOBS)
