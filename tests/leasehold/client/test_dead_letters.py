from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from leasehold import App, ChangedJob, Client, open_client
from leasehold.client import dead_letters
from leasehold.database import open_database
from leasehold.errors import BadInput, InvalidArgs, UnknownJob, WrongState
from leasehold.events import JobCancelled, JobRequeued
from tests.support.sql_worker import SqlWorker


async def fail_all(dsn: str) -> None:
    """Whatever is pending fails for good."""
    async with open_database(dsn) as database:
        worker = SqlWorker(database)
        claimed = await worker.claim(10_000)
        await worker.fail(claimed, discard=[True] * len(claimed))


async def failed_jobs(client: Client, dsn: str, count: int) -> list[int]:
    made = [await client.enqueue("a", {"n": n}) for n in range(count)]
    await fail_all(dsn)
    return made


async def test_the_errors_of_a_job_are_told(database_url: str) -> None:
    async with open_client(database_url) as client:
        (job_id,) = await failed_jobs(client, database_url, 1)
        (error,) = await client.errors(job_id)
        assert (error.attempt, error.worker_id, error.type, error.message) == (1, "w1", "ValueError", "boom")
        with pytest.raises(UnknownJob):
            await client.errors(99)


async def test_a_failed_job_is_edited_and_retried(database_url: str) -> None:
    async with open_client(database_url) as client:
        (job_id,) = await failed_jobs(client, database_url, 1)
        assert await client.edit(job_id, args={"n": 7}, metadata={"by": "me"}, queue="q", reason="typo") == "failed"
        assert await client.retry(job_id) == "pending"
        job = await client.get(job_id)
        assert (job.args, job.metadata, job.queue, job.attempt) == ({"n": 7}, {"by": "me"}, "q", 1)


async def test_args_are_checked_against_the_handler_where_there_is_an_app(database_url: str) -> None:
    app = App()

    @app.kind()
    async def greet(name: str) -> None:
        """Greets."""

    async with open_client(database_url, app=app) as client:
        job_id = await client.enqueue(greet.new(name="Ada"))
        with pytest.raises(InvalidArgs, match="greet"):
            await client.edit(job_id, args={"nme": "Ada"})
        assert await client.edit(job_id, args={"name": "Grace"}) == "pending"
        with pytest.raises(UnknownJob):
            await client.edit(99, args={"name": "Grace"})


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({}, "give at least one of args"),
        ({"run_at": datetime(2030, 1, 1)}, "run_at must have a time zone"),
        ({"args": {"n": float("nan")}}, "args"),
    ],
    ids=str,
)
async def test_bad_values_are_refused(database_url: str, changes: dict[str, Any], complaint: str) -> None:
    async with open_client(database_url) as client:
        job_id = await client.enqueue("a")
        with pytest.raises(BadInput, match=complaint):
            await client.edit(job_id, **changes)


async def test_a_completed_job_cannot_be_edited(database_url: str) -> None:
    async with open_client(database_url) as client, open_database(database_url) as database:
        job_id = await client.enqueue("a")
        worker = SqlWorker(database)
        await worker.complete(await worker.claim())
        with pytest.raises(WrongState):
            await client.edit(job_id, priority=1)


async def test_a_job_is_looked_at_and_changed_in_one_transaction(database_url: str) -> None:
    async with open_client(database_url, app=App()) as client:
        job_id = await client.enqueue("echo", priority=1)
        async with client.transaction() as tx:
            assert (await client.lock(job_id, connection=tx)).priority == 1
            await client.edit(job_id, priority=5, args={"n": 1}, connection=tx)
            assert (await client.get(job_id)).priority == 1  # as others see it
        async with client.transaction() as tx:
            assert (await client.lock(job_id, connection=tx)).priority == 5
            assert await client.delete(job_id, connection=tx) == "pending"
            with pytest.raises(UnknownJob):
                await client.lock(job_id, connection=tx)


async def test_all_scheduled_jobs_that_match_are_run_now_and_told(database_url: str) -> None:
    async with open_client(database_url) as client:
        made = [await client.enqueue("a", delay=60, key="k") for _ in range(2)]
        heard: list[tuple[int, str]] = []
        client.subscribe(JobRequeued, lambda event: heard.append((event.job_id, event.state)))
        would = await client.trigger_jobs(key="k")
        assert (heard, [each.job_id for each in would]) == ([], made)
        assert await client.trigger_jobs(job_ids=made, dry_run=False) == would
        assert heard == [(made[0], "pending"), (made[1], "waiting")]


async def test_all_failed_jobs_are_retried_in_pages_and_told(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_letters, "PAGE", 2)
    async with open_client(database_url) as client:
        made = await failed_jobs(client, database_url, 5)
        heard: list[int] = []
        client.subscribe(JobRequeued, lambda event: heard.append(event.job_id))
        would = await client.retry_jobs(kind="a")
        assert heard == []
        assert {job.state for job in await client.list()} == {"failed"}
        assert await client.retry_jobs(kind="a", dry_run=False) == would
        assert [each.job_id for each in would] == heard == made
        assert would[0] == ChangedJob(
            job_id=made[0], kind="a", queue="default", changed=True, was="failed", now="pending", reason=None
        )


@pytest.mark.parametrize("page", [1, 2, 3, 1000])
@pytest.mark.parametrize("limit", [None, 1, 3, 5, 9])
async def test_a_limit_is_kept_whatever_the_page(
    database_url: str, monkeypatch: pytest.MonkeyPatch, page: int, limit: int | None
) -> None:
    monkeypatch.setattr(dead_letters, "PAGE", page)
    async with open_client(database_url) as client:
        made = await failed_jobs(client, database_url, 5)
        assert [each.job_id for each in await client.retry_jobs(limit=limit)] == made[:limit]
        assert [each.job_id for each in await client.retry_jobs(job_ids=made[::-1], limit=limit)] == made[:limit]


async def test_ids_are_all_answered(database_url: str) -> None:
    async with open_client(database_url) as client:
        made = await failed_jobs(client, database_url, 2)
        changes = await client.retry_jobs(job_ids=[99, *made], dry_run=False)
        assert [(each.job_id, each.changed, each.reason) for each in changes] == [
            (made[0], True, None),
            (made[1], True, None),
            (99, False, "there is no job 99"),
        ]
        assert await client.retry_jobs(job_ids=[]) == []


async def test_all_that_match_are_cancelled_and_told(database_url: str) -> None:
    async with open_client(database_url) as client:
        made = [await client.enqueue("a", queue=queue) for queue in ("q", "other", "q")]
        heard: list[JobCancelled] = []
        client.subscribe(JobCancelled, heard.append)
        changes = await client.cancel_jobs(queue="q", reason="moved", dry_run=False)
        assert [each.job_id for each in changes] == [event.job_id for event in heard] == [made[0], made[2]]
        assert (heard[0].was, heard[0].reason, changes[0].now) == ("pending", "moved", "cancelled")
        assert await client.cancel_jobs(queue="q") == []


@pytest.mark.parametrize(
    ("filters", "complaint"), [({"limit": 0}, "limit must be 1 or more, not 0"), ({"state": "done"}, "state must be")]
)
async def test_bad_filters_are_refused(database_url: str, filters: dict[str, Any], complaint: str) -> None:
    async with open_client(database_url) as client:
        for call in (client.retry_jobs, client.cancel_jobs):
            with pytest.raises(BadInput, match=complaint):
                await call(**filters)
