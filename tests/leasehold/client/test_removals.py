from __future__ import annotations

import pytest

from leasehold import Client, NewJob
from leasehold.database import Database
from leasehold.errors import BadInput, UnknownJob, WrongState
from leasehold.jobs.producing.unique import Unique


@pytest.fixture
def client(database: Database) -> Client:
    return Client(database)


async def test_a_job_is_removed_once(client: Client) -> None:
    job_id = await client.enqueue("pay")
    assert await client.delete(job_id) == "pending"
    with pytest.raises(UnknownJob):
        await client.delete(job_id)


async def test_what_somebody_waits_for_is_not_removed(client: Client) -> None:
    part = await client.enqueue("part")
    await client.enqueue("whole", blockers=[part])
    with pytest.raises(WrongState, match="waits for it"):
        await client.delete(part)


async def test_many_jobs_are_removed_and_each_is_reported(client: Client) -> None:
    made = [await client.enqueue("pay", queue="q") for _ in range(3)]
    await client.enqueue("pay", queue="other")
    assert [change.job_id for change in await client.delete_jobs(queue="q", limit=2)] == made[:2]
    assert len(await client.list()) == 4
    changes = await client.delete_jobs(job_ids=[*made, 99], dry_run=False)
    assert [(change.changed, change.was) for change in changes] == [(True, "pending")] * 3 + [(False, None)]
    assert len(await client.list()) == 1


async def test_a_page_has_an_end_and_says_where_to_go_on(client: Client) -> None:
    made = [await client.enqueue("pay", {"shop": number % 2}, key=f"k{number}") for number in range(4)]
    first = await client.page(page_size=3, columns=[])
    assert ([job.id for job in first.jobs], first.next_before_id) == (made[:0:-1], made[1])
    assert first.jobs[0].args is None
    rest = await client.page(page_size=3, before_id=first.next_before_id)
    assert ([job.id for job in rest.jobs], rest.next_before_id) == (made[:1], None)
    odd = await client.page(args={"shop": 1})
    assert ([job.id for job in odd.jobs], odd.next_before_id) == ([made[3], made[1]], None)
    assert [job.id for job in await client.list(kind="pay", key="k2")] == [made[2]]


async def test_a_look_at_many_jobs_stops_and_goes_on(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leasehold.client.jobs.LOOK", 2)
    rare = await client.enqueue("rare")
    for _ in range(4):
        await client.enqueue("often")
    looked: list[list[int]] = []
    before: int | None = None
    while True:
        page = await client.page(kind="rare", before_id=before)
        looked.append([job.id for job in page.jobs])
        if (before := page.next_before_id) is None:
            break
    assert looked == [[], [], [rare]]


async def test_queues_are_listed_with_what_is_known_of_them(client: Client) -> None:
    await client.enqueue("pay", queue="busy")
    await client.pause("still", "for a while")
    busy, still = await client.queues()
    assert (busy.queue, busy.counts, busy.paused_at) == ("busy", {"pending": 1}, None)
    assert (still.queue, still.counts, still.pause_reason) == ("still", {}, "for a while")


async def test_each_key_gets_a_job(client: Client) -> None:
    for key in ("a", "b"):
        await client.enqueue("crawl", key=key, metadata={"region": "AZ"})
    job: NewJob[None] = NewJob(kind="refresh", args={"x": 1}, unique=Unique(by=["kind", "key"]))
    made = await client.enqueue_for_keys(job, kind="crawl", metadata={"region": "AZ"})
    assert [(each.key, each.is_new) for each in made] == [("a", True), ("b", True)]
    again = await client.enqueue_for_keys(job, keys=["b"])
    assert [(each.job_id, each.is_new) for each in again] == [(made[1].job_id, False)]
    with pytest.raises(BadInput, match="no key, no idempotency_key"):
        await client.enqueue_for_keys(NewJob(kind="refresh", key="k"))
