"""Args and outputs that are too large for a row: a worker puts them into the payload store and fetches them."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from leasehold import App, Client, Job
from leasehold.errors import PayloadMissing, UnknownPayload
from leasehold.payloads.claim_checks import ClaimCheck, find_check
from leasehold.payloads.options import PayloadOptions
from leasehold.payloads.stores import FolderStore
from leasehold.records.jobs import JobRecord
from tests.support.large_app import app as app_in_processes
from tests.support.waiting import PATIENCE, until
from tests.support.working import Working, without_renewals, working

SMALL = 2_000
PAGES = [{"page": number, "text": "x" * 100} for number in range(100)]


def settings(folder: Path) -> dict[str, Any]:
    return {"payloads_store": str(folder), "payloads_claim_bytes": SMALL}


def reader(running: Working, folder: Path) -> Client:
    return Client(running.database, payloads=PayloadOptions(FolderStore(folder), claim_above=SMALL))


def check_in(value: object) -> ClaimCheck:
    found = find_check(value)
    assert found is not None, value
    return found


def files(folder: Path) -> list[Path]:
    # Not rglob: it fails where the store removes an empty folder meanwhile.
    return [Path(each, name) for each, _, names in os.walk(folder) for name in names if name.endswith(".gz")]


async def crawl(job: Job, pages: int) -> list[dict[str, Any]]:
    return PAGES[:pages]


async def count(job: Job, pages: list[dict[str, Any]]) -> int:
    return len(pages)


def crawl_in_thread(job: Job, pages: int) -> list[dict[str, Any]]:
    return PAGES[:pages]


async def crawl_and_complete(job: Job, pages: int) -> list[dict[str, Any]]:
    async with job.complete() as tx:
        await tx.execute("select 1")
    return PAGES[:pages]


HANDLERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "trio": (crawl, {}),
    "asyncio": (crawl, {"runs": "asyncio"}),
    "thread": (crawl_in_thread, {"runs": "thread"}),
    "atomic": (crawl, {"mode": "atomic"}),
    "atomic under asyncio": (crawl, {"mode": "atomic", "runs": "asyncio"}),
    "completes by itself": (crawl_and_complete, {}),
}


async def test_a_large_output_goes_to_the_store_and_readers_get_it(database_url: str, tmp_path: Path) -> None:
    app = App()
    for how, (handler, options) in HANDLERS.items():
        app.kind(how, **options)(handler)
    async with working(database_url, app, **settings(tmp_path)) as running:
        client = reader(running, tmp_path)
        for how in HANDLERS:
            row = await running.run(how, {"pages": 100})
            assert row.state == "completed", row.error
            check = check_in(row.output)
            assert check.size > SMALL
            assert check.summary == "list of 100"
            [payload] = await client.payloads.list(job_id=row.id)
            assert (payload.id, payload.kind, payload.key, payload.size) == (
                check.id,
                f"output:{how}",
                None,
                check.size,
            )
            assert (await client.get(row.id)).output == PAGES
            assert await client.wait(row.id, timeout=PATIENCE) == PAGES
            assert (await client.chains.get(row.id)).output == PAGES
        assert await client.payloads.audit() == []


async def test_a_small_output_stays_in_the_row(database_url: str, tmp_path: Path) -> None:
    app = App()
    app.kind("crawl")(crawl)
    async with working(database_url, app, **settings(tmp_path)) as running:
        assert (await running.run("crawl", {"pages": 1})).output == PAGES[:1]
        assert files(tmp_path) == []


async def test_without_a_store_a_large_output_stays_in_the_row(database_url: str) -> None:
    app = App()
    app.kind("crawl")(crawl)
    async with working(database_url, app, payloads_claim_bytes=SMALL) as running:
        assert (await running.run("crawl", {"pages": 100})).output == PAGES


async def test_an_output_of_two_mebibytes_is_kept_where_there_is_a_store(database_url: str, tmp_path: Path) -> None:
    app = App()

    @app.kind()
    async def read_book() -> str:
        return "x" * (2 << 20)

    async with working(database_url, app, payloads_store=str(tmp_path)) as running:
        job = await running.run("read_book")
        assert check_in(job.output).summary == "x" * 100 + "…"
        assert len((await reader(running, tmp_path).payloads.fill(job)).output) == 2 << 20


async def test_an_output_beyond_the_limit_of_payloads_fails_for_good(database_url: str, tmp_path: Path) -> None:
    app = App()
    app.kind("crawl")(crawl)
    async with working(database_url, app, **settings(tmp_path), payloads_limit_bytes=5_000) as running:
        job = await running.run("crawl", {"pages": 100})
        assert (job.state, job.attempt, job.error["type"]) == ("failed", 1, "InvalidOutput")
        assert "5000 is the most" in job.error["message"]
        assert files(tmp_path) == []


async def test_handlers_get_large_args_as_they_were_enqueued(database_url: str, tmp_path: Path) -> None:
    app = App()
    app.kind("trio")(count)
    app.kind("asyncio", runs="asyncio")(count)
    async with working(database_url, app, **settings(tmp_path)) as running:
        client = reader(running, tmp_path)
        for runs in ("trio", "asyncio"):
            job_id = await client.enqueue(runs, {"pages": PAGES})
            shown = await running.finished(job_id)
            assert (shown.state, shown.output) == ("completed", 100)
            assert check_in(shown.args).summary == {"pages": "list of 100"}
            assert (await client.get(job_id)).args == {"pages": PAGES}


async def test_a_job_that_waited_gets_the_large_outputs_of_its_blockers(database_url: str, tmp_path: Path) -> None:
    app = App()
    app.kind("crawl")(crawl)

    @app.kind()
    async def add_up(job: Job) -> int:
        return sum(len(each) for each in await job.blockers())

    async with working(database_url, app, **settings(tmp_path)) as running:
        parts = [await running.client.enqueue("crawl", {"pages": pages}) for pages in (100, 1)]
        assert (await running.run("add_up", blockers=parts)).output == 101


async def test_a_missing_file_fails_the_attempt_and_the_worker_goes_on(database_url: str, tmp_path: Path) -> None:
    app = App()
    app.kind("count")(count)
    app.kind("crawl")(crawl)
    async with working(database_url, app, **settings(tmp_path)) as running:
        client = reader(running, tmp_path)
        lost = await client.enqueue("count", {"pages": PAGES}, max_attempts=1, delay=3600)
        for file in files(tmp_path):
            file.unlink()
        await client.jobs.trigger(lost)
        failed = await running.finished(lost)
        assert (failed.state, failed.error["type"]) == ("failed", "PayloadMissing")
        assert (await running.run("crawl", {"pages": 1})).output == PAGES[:1]
        with pytest.raises(PayloadMissing):
            await client.get(lost)
        await client.enqueue("count", {"pages": PAGES}, delay=3600)  # an audit believes no store that is empty
        await client.payloads.audit(repair=True)
        with pytest.raises(UnknownPayload):
            await client.get(lost)


async def test_a_worker_without_the_store_says_so(database_url: str, tmp_path: Path) -> None:
    app = App()
    app.kind("count")(count)
    async with working(database_url, app) as running:
        job_id = await reader(running, tmp_path).enqueue("count", {"pages": PAGES}, max_attempts=1)
        job = await running.finished(job_id)
        assert (job.state, job.error["type"]) == ("failed", "NoPayloadStore")


async def test_a_check_that_somebody_made_up_opens_no_payload(database_url: str, tmp_path: Path) -> None:
    app = App()
    app.kind("count")(count)
    async with working(database_url, app, **settings(tmp_path)) as running:
        secret = await reader(running, tmp_path).payloads.save({"pages": [1, 2]}, kind="secret")
        forged = {"$payload": {"id": secret.id, "size": 1, "sha256": "0" * 64, "summary": None}}
        job = await running.run("count", forged, max_attempts=1)
        assert (job.state, job.error["type"]) == ("failed", "PayloadDamaged")


async def test_who_lost_the_lease_leaves_no_output_behind(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App()
    publish, published, run_again = FolderStore.publish, Event(), Event()

    @app.kind()
    async def fetch(job: Job) -> Any:
        return PAGES if job.attempt == 1 else "later"

    def publish_and_wait(store: FolderStore, path: Path, location: str) -> None:
        publish(store, path, location)
        published.set()
        assert run_again.wait(PATIENCE)

    monkeypatch.setattr(FolderStore, "publish", publish_and_wait)
    async with working(database_url, app, **settings(tmp_path), **without_renewals(monkeypatch)) as running:
        job_id = await running.client.enqueue("fetch")
        await until(published.is_set)
        assert len(files(tmp_path)) == 1
        await running.database.execute(
            "update leasehold.jobs set state = 'pending', incarnation = null, lease_expires_at = null, worker_id = null,"
            " claimed_at = null, started_at = null, heartbeat_at = null"
        )
        # The same worker runs it again, which cancels the first handler.
        job = await running.finished(job_id)
        run_again.set()
        assert job.output == "later"
        await until(lambda: files(tmp_path) == [])


async def test_a_large_output_of_a_process_goes_to_the_store_as_well(database_url: str, tmp_path: Path) -> None:
    async with working(database_url, app_in_processes, **settings(tmp_path)) as running:
        job: JobRecord = await running.run("spell", {"count": 2_000_000})
        assert job.state == "completed", job.error
        assert check_in(job.output).summary == "x" * 100 + "…"
        counted = await reader(running, tmp_path).enqueue("measure", {"text": "x" * 5_000})
        assert (await running.finished(counted)).output == 5_000
