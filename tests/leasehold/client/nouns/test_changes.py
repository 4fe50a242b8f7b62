from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leasehold import Client
from tests.leasehold.client.conftest import flavour, with_client

__all__ = ["flavour"]  # both: what is iterated over is of the caller's own

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@with_client()
async def test_a_client_of_either_flavour_tells_what_happened(client: Client) -> None:
    job_id = await client.enqueue("crawl")
    await client.cancel(job_id, "enough")
    pages = [page async for page in client.changes.replay(LONG_AGO)]
    assert [(each.event, each.job_id, each.message) for page in pages for each in page] == [
        ("job_cancelled", job_id, "enough")
    ]
    assert [page async for page in client.changes.replay(LONG_AGO, LONG_AGO + timedelta(days=1))] == []
    feed = client.changes.follow()
    assert await feed.read() == []
    await client.enqueue("crawl")
    assert [each.event for each in await feed.read()] == ["job_created"]
