from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_chains import continued, ended
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def found(database: Database, **filters: object) -> list[int]:
    return [row["chain_id"] for row in await database.call("list_chains", timeout=None, **filters)]


@pytest.fixture
async def shop(database: Database, worker: SqlWorker) -> dict[str, int]:
    """A chain in each state, and longer ones that are open and completed."""
    chains = {state: await ended(database, worker, state) for state in ("completed", "failed", "cancelled")}
    chains["longer"] = (await continued(database, worker, "pay", "pack"))[0]
    chains["shipped"], last = await continued(database, worker, "ship", "arrive")
    await worker.complete([job for job in await worker.claim(kinds=["arrive"]) if job["job_id"] == last])
    chains["open"] = await enqueue(database, "pay", queue="slow")
    return chains


async def test_they_come_newest_first_whatever_their_state(database: Database, shop: dict[str, int]) -> None:
    assert await found(database) == sorted(shop.values(), reverse=True)


async def test_a_state_chooses(database: Database, shop: dict[str, int]) -> None:
    assert await found(database, state="open") == [shop["open"], shop["longer"]]
    assert await found(database, state="completed") == [shop["shipped"], shop["completed"]]
    assert await found(database, state="failed") == [shop["failed"]]
    assert await found(database, state="cancelled") == [shop["cancelled"]]


async def test_kind_and_queue_of_the_first_job_choose(database: Database, shop: dict[str, int]) -> None:
    assert await found(database, kind="pay") == [shop["open"], shop["longer"]]
    assert await found(database, kind="pay", queue="slow") == [shop["open"]]
    assert await found(database, kind="ship", state="completed") == [shop["shipped"]]
    assert await found(database, kind="pack") == []
    assert await found(database, kind="pay", state="completed") == []


async def test_pages_follow_one_another_and_show_each_chain_once(database: Database, shop: dict[str, int]) -> None:
    seen: list[int] = []
    page = await found(database, page_size=2)
    while page:
        seen += page
        page = await found(database, page_size=2, before_id=page[-1])
    assert seen == sorted(shop.values(), reverse=True)


async def test_a_state_that_chains_do_not_have_is_refused(database: Database) -> None:
    with pytest.raises(BadInput, match=r"'pending'.*open, completed"):
        await found(database, state="pending")
