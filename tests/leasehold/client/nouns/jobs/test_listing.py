from __future__ import annotations

import pytest

from leasehold import Client
from leasehold.database import Database


@pytest.fixture
def client(database: Database) -> Client:
    return Client(database)


async def test_a_page_has_an_end_and_says_where_to_go_on(client: Client) -> None:
    made = [await client.enqueue("pay", {"shop": number % 2}, key=f"k{number}") for number in range(4)]
    first = await client.jobs.search(page_size=3, columns=[])
    assert ([job.id for job in first.jobs], first.next_before_id) == (made[:0:-1], made[1])
    assert first.jobs[0].args is None
    rest = await client.jobs.search(page_size=3, before_id=first.next_before_id)
    assert ([job.id for job in rest.jobs], rest.next_before_id) == (made[:1], None)
    odd = await client.jobs.search(args={"shop": 1})
    assert ([job.id for job in odd.jobs], odd.next_before_id) == ([made[3], made[1]], None)
    assert [job.id for job in await client.jobs.list(kind="pay", key="k2")] == [made[2]]


async def test_a_look_at_many_jobs_stops_and_goes_on(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leasehold.client.nouns.jobs_read.LOOK", 2)
    rare = await client.enqueue("rare")
    for _ in range(4):
        await client.enqueue("often")
    looked: list[list[int]] = []
    before: int | None = None
    while True:
        page = await client.jobs.search(kind="rare", before_id=before)
        looked.append([job.id for job in page.jobs])
        if (before := page.next_before_id) is None:
            break
    assert looked == [[], [], [rare]]


async def test_a_page_is_not_larger_than_a_few_megabytes_and_says_where_to_go_on(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leasehold.client.nouns.jobs_read.MOST_BYTES", 2_000)
    made = [await client.enqueue("import", {"text": "ä" * 600}) for _ in range(4)]
    first = await client.jobs.search()
    assert ([job.id for job in first.jobs], first.next_before_id) == ([made[3], made[2]], made[2])
    rest = await client.jobs.search(before_id=first.next_before_id)
    assert [job.id for job in rest.jobs] == [made[1], made[0]]
    slim = await client.jobs.search(columns=[])
    assert ([job.id for job in slim.jobs], slim.next_before_id) == (made[::-1], None)
    assert len(await client.jobs.list()) == 4
