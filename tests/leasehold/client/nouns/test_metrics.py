from __future__ import annotations

from datetime import UTC, datetime

from leasehold import Client
from tests.leasehold.client.conftest import with_client

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@with_client()
async def test_a_client_of_either_flavour_measures_queues_and_workers(client: Client) -> None:
    before = await client.metrics.throughput(LONG_AGO)
    job_id = await client.enqueue("crawl", queue="shops")
    await client.cancel(await client.enqueue("parse"))
    assert (await client.metrics.fleet()).ready == 0
    counts = {(each.queue, each.state): (each.jobs, each.counted_at) for each in await client.metrics.counts()}
    assert counts["shops", "pending"] == (1, None)
    (oldest,) = await client.metrics.oldest_ready()
    assert (oldest.queue, oldest.waits_for >= 0) == ("shops", True)
    flow = await client.metrics.throughput(before.at, before.newest_id)
    assert flow.newest_id == job_id + 1
    assert {each.queue: (each.arrived, each.cancelled) for each in flow.queues} == {
        "shops": (1, 0),
        "default": (1, 1),
    }
    assert await client.metrics.failures(LONG_AGO) == []
    bounds = await client.metrics.time_bounds()
    assert bounds == sorted(bounds)
    assert all(len(each.runs) == len(bounds) + 1 for each in await client.metrics.totals())


@with_client()
async def test_a_client_of_either_flavour_groups_failures_and_retries_a_group(client: Client) -> None:
    assert await client.metrics.failure_groups(LONG_AGO) == []
    fingerprint = "0" * 16
    assert await client.metrics.failure_groups(LONG_AGO, kind="pay", queue="q", fingerprint=fingerprint) == []
    assert await client.metrics.group_failures(fingerprint, LONG_AGO, only_final=True, page_size=1) == []
    assert await client.jobs.retry_failures(fingerprint, since=LONG_AGO, dry_run=False) == []
