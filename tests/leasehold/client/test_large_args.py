"""Args that are too large for a row: the client puts them into the payload store, and the row names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from leasehold import Client, NewJob, Unique, open_client
from leasehold.database import Database
from leasehold.errors import BadInput, PayloadTooLarge, StoreUnavailable
from leasehold.payloads.archive import delete_old_payloads
from leasehold.payloads.claim_checks import ClaimCheck, find_check
from leasehold.payloads.options import PayloadOptions
from leasehold.payloads.stores import FolderStore
from tests.support.sql_waits import rolled_back

PAGES = {"shop": 7, "pages": ["x" * 100] * 100}
SMALL = 2_000


@pytest.fixture
def client(database: Database, tmp_path: Path) -> Client:
    return Client(database, payloads=PayloadOptions(FolderStore(tmp_path), claim_above=SMALL))


@pytest.fixture
def stranger(database: Database) -> Client:
    """A reader who has no store."""
    return Client(database)


def files(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


async def check_of(stranger: Client, job_id: int) -> ClaimCheck:
    found = find_check((await stranger.get(job_id)).args)
    assert found is not None
    return found


async def test_large_args_are_in_the_store_and_a_summary_in_the_row(client: Client, stranger: Client) -> None:
    job_id = await client.enqueue("crawl", PAGES, key="shop 7")
    check = await check_of(stranger, job_id)
    assert check.summary == {"shop": 7, "pages": "list of 100"}
    assert (await client.get(job_id)).args == PAGES
    [payload] = await client.payloads.list()
    assert (payload.id, payload.job_id, payload.kind, payload.key) == (check.id, job_id, "args:crawl", None)
    assert (payload.size, payload.sha256) == (check.size, check.sha256)
    assert await client.payloads.load(payload) == PAGES
    assert await client.payloads.audit() == []


async def test_small_args_stay_where_they_are(client: Client, tmp_path: Path) -> None:
    assert (await client.get(await client.enqueue("crawl", {"shop": 7}))).args == {"shop": 7}
    assert files(tmp_path) == []


async def test_a_list_shows_claim_checks_and_fill_gets_the_values(client: Client) -> None:
    await client.enqueue("crawl", PAGES)
    [job] = await client.jobs.list()
    assert find_check(job.args) is not None
    assert (await client.payloads.fill(job)).args == PAGES


async def test_of_many_jobs_only_the_large_ones_go_there(client: Client, stranger: Client, tmp_path: Path) -> None:
    jobs = [NewJob(kind="a", args={"n": 1}), NewJob(kind="b", args=PAGES), NewJob(kind="c", args=PAGES)]
    made = await client.enqueue_many(jobs)
    assert [find_check((await stranger.get(job_id)).args) is not None for job_id in made] == [False, True, True]
    assert [payload.job_id for payload in await client.payloads.list()] == [made[2], made[1]]
    assert len(files(tmp_path)) == 2


async def test_beyond_one_mebibyte_the_store_is_the_only_way(client: Client, stranger: Client) -> None:
    large = {"text": "x" * (2 << 20)}
    with pytest.raises(BadInput, match="args take"):
        await stranger.enqueue("crawl", large)
    assert (await client.get(await client.enqueue("crawl", large))).args == large


async def test_in_a_transaction_of_ones_own_all_of_it_is_one_commit(
    client: Client, database: Database, tmp_path: Path
) -> None:
    async with client.transaction() as transaction:
        job_id = await client.enqueue("crawl", PAGES, connection=transaction)
    assert (await client.get(job_id)).args == PAGES
    async with rolled_back(database) as transaction:
        await client.enqueue("crawl", PAGES, connection=transaction)
    assert len(await client.payloads.list()) == 1
    assert len(files(tmp_path)) == 2  # the audit finds the other one after a day


async def test_who_finds_a_job_that_is_there_already_leaves_nothing(client: Client, tmp_path: Path) -> None:
    first = await client.enqueue("crawl", PAGES, idempotency_key="once")
    assert await client.enqueue("crawl", PAGES, idempotency_key="once") == first
    assert len(files(tmp_path)) == len(await client.payloads.list()) == 1


async def test_new_args_for_a_job_that_is_there_take_the_place_of_its_own(client: Client) -> None:
    job = NewJob(kind="crawl", args=PAGES, unique=Unique(key="shop 7", on_conflict="replace"))
    first = await client.enqueue(job)
    [second] = await client.enqueue_with_outcomes([msgspec.structs.replace(job, args={**PAGES, "shop": 8})])
    assert (second.job_id, second.outcome) == (first, "replaced")
    assert (await client.get(first)).args["shop"] == 8


async def test_args_that_are_compared_stay_in_the_row(client: Client, tmp_path: Path) -> None:
    job = NewJob(kind="crawl", args=PAGES, unique=Unique(by=["kind", "args"]))
    [first], [second] = [await client.enqueue_with_outcomes([job]) for _ in range(2)]
    assert (first.job_id, second.outcome) == (second.job_id, "existing")
    assert files(tmp_path) == []


async def test_what_the_database_refuses_leaves_nothing(client: Client, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="queue has a comma"):
        await client.enqueue("crawl", PAGES, queue="a,b")
    assert files(tmp_path) == []
    assert await client.jobs.list() == []


async def test_what_the_store_refuses_enqueues_nothing(database: Database, tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    strict = Client(database, payloads=PayloadOptions(store, limit=5_000, claim_above=SMALL))
    with pytest.raises(PayloadTooLarge):
        await strict.enqueue_many([NewJob(kind="a", args={"text": "x" * 4_000}), NewJob(kind="b", args=PAGES)])
    assert files(tmp_path) == []
    (tmp_path / "gone").write_text("a file, not a folder")
    broken = Client(database, payloads=PayloadOptions(FolderStore(tmp_path / "gone"), claim_above=SMALL))
    with pytest.raises(StoreUnavailable):
        await broken.enqueue("a", PAGES)
    assert await broken.jobs.list() == []


async def test_what_is_deleted_with_its_job_goes_in_the_next_round(
    client: Client, database: Database, tmp_path: Path
) -> None:
    await database.call("ensure_partitions")
    deleted, kept = [await client.enqueue("crawl", PAGES) for _ in range(2)]
    await client.jobs.delete(deleted)
    assert [payload.job_id for payload in await client.payloads.list()] == [kept]
    assert await delete_old_payloads(client.payloads.archive(), 30, 14) == 1
    assert len(files(tmp_path)) == 1


async def test_the_limit_is_a_quarter_of_a_mebibyte_unless_said_otherwise(database_url: str, tmp_path: Path) -> None:
    async with open_client(database_url, payloads=str(tmp_path)) as client:
        small: dict[str, Any] = {"text": "x" * 200_000}
        await client.enqueue("crawl", small)
        assert files(tmp_path) == []
        await client.enqueue("crawl", {"text": "x" * 300_000})
        assert len(files(tmp_path)) == 1
