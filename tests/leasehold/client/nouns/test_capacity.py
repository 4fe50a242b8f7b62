from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leasehold import Client
from leasehold.errors import BadInput
from tests.conftest import Psql
from tests.leasehold.client.conftest import Under, with_client

SEED = """
insert into leasehold.finished_jobs (id, created_at, run_at, claimed_at, started_at, finished_at, priority,
       attempt, spared_attempts, max_attempts, state, kind, queue, key, args)
select nextval('leasehold.jobs_id_seq'), t.at - interval '1 min', t.at - interval '1 min',
       t.at - interval '4 s', t.at - interval '4 s', t.at, 0, 1, 0, 1,
       'completed', 'k', 'crawl', null, '{}'
  from (select leasehold.clock() - interval '20 minutes' + n * interval '1 s' as at from generate_series(1, 10) n) t;
select leasehold.enqueue_job('k', queue => 'crawl', key => 'shop 1') from generate_series(1, 2);
select leasehold.enqueue_job('k', queue => 'crawl') from generate_series(1, 60);
update leasehold.jobs set created_at = created_at - interval '2 hours';
select leasehold.register_worker('00000000-0000-0000-0000-000000000001', 'w', 'host', 1, '0', '{crawl}', '{}', 2, true);
"""

ROLLUP = """
insert into leasehold.rollups
select '2026-03-01 10:30Z', 60, 'q', 1, 2, 3, 4, 5, 6, 1.5, 2.5, 0, array_fill(7, array[29]), array_fill(8, array[29]);
insert into leasehold.rollup_totals
select 'q', '2026-03-01 10:30Z', '2026-03-01 10:31Z', 1, 2, 3, 4, 5, 6, 1.5, 2.5,
       array_fill(7, array[29]), array_fill(8, array[29]);
"""


@pytest.fixture
def seeded(database_url: str, psql: Psql) -> None:
    """Ten jobs of four seconds were done, 62 wait, of which one for a key; one worker with two slots."""
    psql(database_url, SEED)


@pytest.mark.usefixtures("seeded")
@with_client()
async def test_a_queue_is_shown_with_what_it_needs_and_what_becomes_of_it(client: Client) -> None:
    plan = await client.capacity.get("crawl", hours=[0.01, 1], target_wait=20.0, what_if=[1.0])
    assert plan is not None
    has = plan.capacity
    assert (has.pending, has.ready, has.waiting, has.active_workers, has.active_slots) == (62, 61, 1, 1, 2)
    assert (has.avg_seconds, has.completed_last_hour, has.jobs_per_worker_hour) == (4.0, 10, 1800.0)
    assert [(each.hours, each.workers) for each in plan.workers_needed] == [(0.01, 4), (1.0, 1)]
    assert plan.desired_workers == 7
    named = {each.name: each for each in plan.scenarios}
    assert list(named) == ["as it is", "one worker less", "+100% load", "as it ought to be"]
    assert named["as it is"].forecast.drain_seconds == 120.0
    assert named["one worker less"].forecast.drain_seconds is None
    assert named["as it ought to be"].workers == 7
    assert [each.queue for each in await client.capacity.list()] == ["crawl"]
    assert await client.capacity.get("nobody") is None


@pytest.mark.usefixtures("seeded")
@with_client()
async def test_a_scaler_gets_one_number(client: Client) -> None:
    assert await client.capacity.desired_workers("crawl", 20.0) == 7
    assert await client.capacity.desired_workers("crawl", 20.0, most=3) == 3
    assert await client.capacity.desired_workers("crawl", 20.0, slots=100, least=2) == 2
    assert await client.capacity.desired_workers("crawl", 20.0, current=8, hysteresis=0.2) == 8
    assert await client.capacity.desired_workers("nobody") == 0
    assert await client.capacity.workers_needed("nobody") == 0
    with pytest.raises(BadInput):
        await client.capacity.desired_workers("crawl", 0.0)


@pytest.mark.usefixtures("seeded")
@with_client()
async def test_what_a_queue_did_last_and_a_key_has_in_hand_is_found(client: Client) -> None:
    recent = await client.jobs.list_recent("crawl", page_size=3)
    assert len(recent) == 3
    assert await client.queues.last_completion("crawl") == recent[0].finished_at
    assert (recent[0].finished_at or datetime.max.replace(tzinfo=UTC)) > (recent[1].finished_at or recent[0].run_at)
    assert await client.jobs.list_recent("crawl", state="failed") == []
    assert await client.queues.last_completion("nobody") is None
    assert [job.state for job in await client.jobs.list_for_key("shop 1")] == ["pending", "waiting"]
    assert await client.jobs.list_for_key("shop 2") == []
    assert await client.capacity.rates(5) == []


@with_client()
async def test_what_happened_in_a_minute_is_told(client: Client, database_url: str, psql: Psql) -> None:
    psql(database_url, ROLLUP)
    [minute] = await client.capacity.rollups("q", since=datetime(2026, 3, 1, tzinfo=UTC), page_size=5)
    assert (minute.starts_at.minute, minute.seconds, minute.arrivals, minute.failed) == (30, 60, 1, 4)
    assert len(minute.waits) == len(await client.metrics.time_bounds()) + 1
    assert await client.capacity.rollups("other") == []


def test_counts_of_big_tables_say_how_old_they_are(under: Under, database_url: str, psql: Psql) -> None:
    big = "do $$begin execute format('alter database %I set leasehold.small_table = %L', current_database(), '-1'); end$$;"
    psql(database_url, "select leasehold.enqueue_job('k', queue => 'crawl')")
    psql(database_url, big)
    psql(database_url, "select leasehold.measure_depths()")

    async def work(client: Client) -> None:
        (counts,) = await client.metrics.counts()
        assert (counts.queue, counts.state, counts.jobs) == ("crawl", "pending", 1)
        assert counts.counted_at is not None

    try:
        under(work)
    finally:
        psql(database_url, big.replace("'-1'", "''"))
