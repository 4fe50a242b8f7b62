from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leasehold import Client
from tests.leasehold.client.conftest import Under

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def test_a_client_of_either_flavour_measures_queues_and_workers(under: Under) -> None:
    async def work(client: Client) -> None:
        before = await client.flow(LONG_AGO)
        job_id = await client.enqueue("crawl", queue="shops")
        await client.cancel(await client.enqueue("parse"))
        assert (await client.fleet()).ready == 0
        depths = {(each.queue, each.state): (each.jobs, each.is_exact) for each in await client.depths()}
        assert depths["shops", "pending"] == (1, True)
        (oldest,) = await client.oldest_ready()
        assert (oldest.queue, oldest.waits_for >= 0) == ("shops", True)
        flow = await client.flow(before.at, before.newest_id)
        assert flow.newest_id == job_id + 1
        assert {each.queue: (each.arrived, each.cancelled) for each in flow.queues} == {
            "shops": (1, 0),
            "default": (1, 1),
        }
        assert await client.failures(LONG_AGO) == []
        bounds = await client.time_bounds()
        assert bounds == sorted(bounds)
        assert all(len(each.runs) == len(bounds) + 1 for each in await client.totals())

    under(work)


def test_a_client_of_either_flavour_tells_what_happened(under: Under) -> None:
    async def work(client: Client) -> None:
        job_id = await client.enqueue("crawl")
        await client.cancel(job_id, "enough")
        pages = [page async for page in client.changes(LONG_AGO)]
        assert [(each.event, each.job_id, each.message) for page in pages for each in page] == [
            ("job_cancelled", job_id, "enough")
        ]
        assert [page async for page in client.changes(LONG_AGO, LONG_AGO + timedelta(days=1))] == []
        feed = client.feed()
        assert await feed.read() == []
        await client.enqueue("crawl")
        assert [each.event for each in await feed.read()] == ["job_created"]

    under(work)
