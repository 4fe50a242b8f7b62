"""Workers behind PgBouncer, which lends its few connections to Postgres by the transaction."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.support.fleet import Fleet
from tests.support.pgbouncer import pgbouncer

pytestmark = pytest.mark.acceptance

JOBS = 60
POLLING = "a pooler before Postgres keeps notifications away"


@pytest.fixture
def pooled_url(database_url: str) -> Generator[str]:
    with pgbouncer(database_url, pool_size=3) as dsn:
        yield dsn


async def test_two_workers_share_three_connections_and_poll(fleet: Fleet, pooled_url: str) -> None:
    workers = [
        await fleet.worker(name, LEASEHOLD_DATABASE_URL=pooled_url, LEASEHOLD_POLL_SECONDS="0.2", LEASEHOLD_SLOTS="5")
        for name in ("one", "two")
    ]
    for worker in workers:
        await worker.until_line(POLLING)
    jobs = [await fleet.client.enqueue("hold", {"seconds": 0.05}) for _ in range(JOBS)]
    for job in jobs:
        assert (await fleet.job(job, "completed")).attempt == 1
    for worker in workers:
        assert worker.terminate() == 0


async def test_with_a_direct_connection_beside_the_pooled_one_a_worker_is_woken(
    fleet: Fleet, pooled_url: str, database_url: str
) -> None:
    settings = {"LEASEHOLD_DATABASE_URL": pooled_url, "LEASEHOLD_DIRECT_DATABASE_URL": database_url}
    worker = await fleet.worker("woken", **settings, LEASEHOLD_POLL_SECONDS="3000")
    await fleet.job(await fleet.client.enqueue("quick"), "completed")
    await fleet.job(await fleet.client.enqueue("quick"), "completed")
    assert worker.terminate() == 0
    assert POLLING not in worker.output
