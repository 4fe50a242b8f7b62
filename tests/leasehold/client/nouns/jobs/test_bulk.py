from __future__ import annotations

from dataclasses import fields
from itertools import product
from typing import Any

import pytest

from leasehold import BulkFilter, ChangedJob, Client, open_client
from leasehold.cli.commands.jobs_change import EnqueuedMatching
from leasehold.client.nouns import jobs_bulk as pages
from leasehold.database import Database
from leasehold.errors import BadInput
from leasehold.events import JobCancelled, JobRequeued
from leasehold.gateway.nouns.jobs_bulk import BulkFilterBody
from tests.leasehold.client.nouns.jobs.failing import failed_jobs

TIMES = ("finished_after", "finished_before", "run_after", "run_before")


async def test_all_scheduled_jobs_that_match_are_run_now_and_told(database_url: str) -> None:
    async with open_client(database_url) as client:
        made = [await client.enqueue("a", delay=60, key="k") for _ in range(2)]
        heard: list[tuple[int, str]] = []
        client.subscribe(JobRequeued, lambda event: heard.append((event.job_id, event.state)))
        would = await client.jobs.trigger_all(key="k")
        assert (heard, [each.job_id for each in would]) == ([], made)
        assert await client.jobs.trigger_all(job_ids=made, dry_run=False) == would
        assert heard == [(made[0], "pending"), (made[1], "waiting")]


async def test_all_failed_jobs_are_retried_in_pages_and_told(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PAGE", 2)
    async with open_client(database_url) as client:
        made = await failed_jobs(client, database_url, 5)
        heard: list[int] = []
        client.subscribe(JobRequeued, lambda event: heard.append(event.job_id))
        would = await client.jobs.retry_all(kind="a")
        assert heard == []
        assert {job.state for job in await client.jobs.list()} == {"failed"}
        assert await client.jobs.retry_all(kind="a", dry_run=False) == would
        assert [each.job_id for each in would] == heard == made
        assert would[0] == ChangedJob(
            job_id=made[0], kind="a", queue="default", changed=True, was="failed", now="pending", reason=None
        )


async def test_a_limit_is_kept_whatever_the_page(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_client(database_url) as client:
        made = await failed_jobs(client, database_url, 5)
        for page, limit in product((1, 2, 3, 1000), (None, 1, 3, 5, 9)):
            monkeypatch.setattr(pages, "PAGE", page)
            assert [each.job_id for each in await client.jobs.retry_all(limit=limit)] == made[:limit]
            named = await client.jobs.retry_all(job_ids=made[::-1], limit=limit)
            assert [each.job_id for each in named] == made[:limit]


async def test_ids_are_all_answered(database_url: str) -> None:
    async with open_client(database_url) as client:
        made = await failed_jobs(client, database_url, 2)
        changes = await client.jobs.retry_all(job_ids=[99, *made], dry_run=False)
        assert [(each.job_id, each.changed, each.reason) for each in changes] == [
            (made[0], True, None),
            (made[1], True, None),
            (99, False, "there is no job 99"),
        ]
        assert await client.jobs.retry_all(job_ids=[]) == []


async def test_all_that_match_are_cancelled_and_told(database_url: str) -> None:
    async with open_client(database_url) as client:
        made = [await client.enqueue("a", queue=queue) for queue in ("q", "other", "q")]
        heard: list[JobCancelled] = []
        client.subscribe(JobCancelled, heard.append)
        changes = await client.jobs.cancel_all(queue="q", reason="moved", dry_run=False)
        assert [each.job_id for each in changes] == [event.job_id for event in heard] == [made[0], made[2]]
        assert (heard[0].was, heard[0].reason, changes[0].now) == ("pending", "moved", "cancelled")
        assert await client.jobs.cancel_all(queue="q") == []


async def test_bad_filters_are_refused(database_url: str) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"limit": 0}, "limit must be 1 or more, not 0"),
        ({"state": "done"}, "state must be"),
    ]
    async with open_client(database_url) as client:
        for call, (filters, complaint) in product((client.jobs.retry_all, client.jobs.cancel_all), cases):
            with pytest.raises(BadInput, match=complaint):
                await call(**filters)


async def test_sql_http_and_the_command_line_have_the_filters_of_the_client(database: Database) -> None:
    [row] = await database.fetch("select proargnames as names from pg_proc where proname = 'find_jobs'")
    cases = {
        "sql": ({*row["names"]}, {"states", "state", "batch", "after_id", "job_id", "was", *TIMES}),
        "http": ({*BulkFilterBody.__struct_fields__}, {"all", "dry_run", "limit"}),
        "command line": ({each.name for each in fields(EnqueuedMatching)} | {"ids"}, {"dry_run", "limit", "yes"}),
    }
    others = {"worker": "worker_id", "ids": "job_ids"}
    for case, (names, own) in cases.items():
        assert {others.get(name, name) for name in names - own} == {*BulkFilter.__annotations__}, case


async def test_a_filter_that_is_not_there_changes_nothing_instead_of_all(database_url: str) -> None:
    async with open_client(database_url) as client:
        job_id = await client.enqueue("a")
        for change in (client.jobs.cancel_all, client.jobs.delete_all, client.jobs.retry_all, client.jobs.trigger_all):
            with pytest.raises(TypeError, match=r"a filter has no option 'worker'; did you mean 'worker_id'\?"):
                await change(worker="w1", dry_run=False)  # pyright: ignore[reportCallIssue]
        assert (await client.get(job_id)).state == "pending"


async def test_many_jobs_are_removed_and_each_is_reported(database: Database) -> None:
    client = Client(database)
    made = [await client.enqueue("pay", queue="q") for _ in range(3)]
    await client.enqueue("pay", queue="other")
    assert [change.job_id for change in await client.jobs.delete_all(queue="q", limit=2)] == made[:2]
    assert len(await client.jobs.list()) == 4
    changes = await client.jobs.delete_all(job_ids=[*made, 99], dry_run=False)
    assert [(change.changed, change.was) for change in changes] == [(True, "pending")] * 3 + [(False, None)]
    assert len(await client.jobs.list()) == 1
