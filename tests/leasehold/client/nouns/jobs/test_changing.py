from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import pytest

from leasehold import App, Client, open_client
from leasehold.database import Database
from leasehold.errors import BadInput, InvalidArgs, UnknownJob
from tests.leasehold.client.nouns.jobs.failing import failed_jobs


async def test_a_failed_job_is_edited_and_retried(database_url: str) -> None:
    async with open_client(database_url) as client:
        (job_id,) = await failed_jobs(client, database_url, 1)
        assert (
            await client.jobs.edit(job_id, args={"n": 7}, metadata={"by": "me"}, queue="q", reason="typo") == "failed"
        )
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
            await client.jobs.edit(job_id, args={"nme": "Ada"})
        assert await client.jobs.edit(job_id, args={"name": "Grace"}) == "pending"
        with pytest.raises(UnknownJob):
            await client.jobs.edit(99, args={"name": "Grace"})


async def test_bad_values_are_refused(database_url: str) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "give at least one of args"),
        ({"run_at": datetime(2030, 1, 1)}, "run_at must have a time zone"),
        ({"args": {"n": float("nan")}}, "args"),
        ({"args": "x"}, "args must be a mapping of named arguments, not 'x'"),
        ({"args": [("n", 1)]}, "args must be a mapping of named arguments"),
        ({"priority": 1, "reason": "x" * 10_001}, "reason must have at most 10000 bytes, not 10001"),
    ]
    app = App()
    app.kind(name="a")(lambda: None)
    for each in None, app:
        async with open_client(database_url, app=each) as client:
            job_id = await client.enqueue("a")
            for changes, complaint in cases:
                with pytest.raises(BadInput, match=complaint):
                    await client.jobs.edit(job_id, **changes)


async def test_a_reason_is_no_longer_than_people_read(database_url: str) -> None:
    async with open_client(database_url) as client:
        job_id = await client.enqueue("a")
        wrong: list[tuple[Any, str]] = [
            ("x" * 3_000_000, "reason must have at most 10000 bytes, not 3000000"),
            ("é" * 5_001, "reason must have at most 10000 bytes, not 10002"),
            (7, "reason must be text, not 7"),
        ]
        cancels: tuple[Callable[[Any], Awaitable[object]], ...] = (
            lambda reason: client.cancel(job_id, reason),
            lambda reason: client.chains.cancel(job_id, reason),
            lambda reason: client.jobs.cancel_all(kind="a", reason=reason, dry_run=False),
        )
        for cancel in cancels:
            for reason, complaint in wrong:
                with pytest.raises(BadInput, match=complaint):
                    await cancel(reason)
        assert await client.cancel(job_id, "é" * 5_000) == "pending"


async def test_a_job_is_looked_at_and_changed_in_one_transaction(database_url: str) -> None:
    async with open_client(database_url, app=App()) as client:
        job_id = await client.enqueue("echo", priority=1)
        async with client.transaction() as tx:
            assert (await client.jobs.lock(job_id, connection=tx)).priority == 1
            await client.jobs.edit(job_id, priority=5, args={"n": 1}, connection=tx)
            assert (await client.get(job_id)).priority == 1  # as others see it
        async with client.transaction() as tx:
            assert (await client.jobs.lock(job_id, connection=tx)).priority == 5
            assert await client.jobs.delete(job_id, connection=tx) == "pending"
            with pytest.raises(UnknownJob):
                await client.jobs.lock(job_id, connection=tx)


async def test_a_job_is_removed_once(database: Database) -> None:
    client = Client(database)
    job_id = await client.enqueue("pay")
    assert await client.jobs.delete(job_id) == "pending"
    with pytest.raises(UnknownJob):
        await client.jobs.delete(job_id)
