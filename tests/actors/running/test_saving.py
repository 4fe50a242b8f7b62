"""Handlers that save payloads, and read what others have saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from leasehold import App, Job
from leasehold.errors import LeaseLost
from leasehold.payloads.stores import FolderStore
from tests.support.waiting import until
from tests.support.working import without_renewals, working

TAKEN = (  # as by the reaper, but without telling the holder
    "update leasehold.jobs set state = 'pending', incarnation = null, lease_expires_at = null, worker_id = null,"
    " claimed_at = null, started_at = null, heartbeat_at = null"
)
FLAVOURS: list[Any] = ["trio", "asyncio", "thread"]
PRODUCTS = [{"id": 1, "price": 2.5}]


def an_app() -> App:
    """Fetch saves, and refresh reads what it saved, in each flavour."""
    app = App()

    async def fetch(job: Job) -> int:
        return (await job.save(PRODUCTS, metadata={"products": 1})).id

    async def refresh(job: Job, payload_id: int) -> Any:
        return await job.payloads.load(payload_id)

    def fetch_in_thread(job: Job) -> int:
        return job.save_sync(PRODUCTS, metadata={"products": 1}).id

    def refresh_in_thread(job: Job, payload_id: int) -> Any:
        return job.load_sync(payload_id)

    for runs in FLAVOURS:
        app.kind(f"fetch in {runs}", runs=runs)(fetch_in_thread if runs == "thread" else fetch)
        app.kind(f"refresh in {runs}", runs=runs)(refresh_in_thread if runs == "thread" else refresh)
    return app


async def test_a_handler_saves_and_another_reads(database_url: str, tmp_path: Path) -> None:
    async with working(database_url, an_app(), payloads_store=str(tmp_path)) as running:
        for runs in FLAVOURS:
            kind = f"fetch in {runs}"
            fetched = await running.run(kind, key="7")
            saved = await running.client.payloads.get(fetched.output)
            assert (saved.kind, saved.key, saved.job_id, saved.metadata) == (kind, "7", fetched.id, {"products": 1})
            read = await running.run(f"refresh in {runs}", {"payload_id": fetched.output})
            assert read.output == PRODUCTS


async def test_a_handler_without_a_store_fails_with_what_is_missing(database_url: str) -> None:
    async with working(database_url, an_app()) as running:
        job = await running.run("fetch in trio", max_attempts=1)
        assert (job.state, job.error["type"]) == ("failed", "NoPayloadStore")


async def test_who_lost_the_lease_saves_nothing(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, seen = App(), list[str]()

    @app.kind()
    async def fetch(job: Job) -> None:
        if job.attempt > 1:
            return
        with trio.CancelScope(shield=True):  # the worker notices the loss, too
            await running.database.execute(TAKEN)
            try:
                await job.save(PRODUCTS)
            except LeaseLost as error:
                seen.append(str(error))

    settings = without_renewals(monkeypatch)
    async with working(database_url, app, payloads_store=str(tmp_path), **settings) as running:
        await running.finished(await running.client.enqueue("fetch"))
        await until(lambda: bool(seen))
        assert seen[0].startswith("attempt 1 does not hold job 1 any more")
        assert await running.client.payloads.list() == []
        assert list(FolderStore(tmp_path).files()) == []
