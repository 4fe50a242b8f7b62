"""Wake-ups by hand, lost ones, and none at all."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.fleet import Fleet
from tests.support.waiting import eventually

pytestmark = pytest.mark.acceptance

LONG_POLL = {"LEASEHOLD_POLL_SECONDS": "600"}
Psql = Callable[[str, str], str]


async def asleep(fleet: Fleet, worker_id: str) -> None:
    """Until the worker polls no more: it has been idle through its decaying polls."""
    await fleet.idle(worker_id)
    seen = -1

    async def is_quiet() -> bool:
        nonlocal seen
        before, seen = (
            seen,
            await fleet.value(
                "select coalesce(extract(epoch from clock_timestamp() - max(query_start)) > 1.5, false)::int "
                "from pg_stat_activity where application_name like '%dispatcher' and datname = current_database()"
            ),
        )
        return before == seen == 1

    await eventually(is_quiet)


async def test_a_job_enqueued_from_psql_starts_without_waiting_for_a_poll(
    fleet: Fleet, psql: Psql, database_url: str
) -> None:
    worker = await fleet.worker("w1", **LONG_POLL, LEASEHOLD_LOG_LEVEL="debug")
    await asleep(fleet, "w1")
    job = int(psql(database_url, "select leasehold.enqueue_job('quick')"))
    assert "woken=True" in await worker.until_line(f"claimed job {job} ")
    await fleet.job(job, "completed")


async def test_notify_wakes_from_psql_what_was_enqueued_silently(fleet: Fleet, psql: Psql, database_url: str) -> None:
    worker = await fleet.worker("w1", LEASEHOLD_QUEUES="mine", **LONG_POLL, LEASEHOLD_LOG_LEVEL="debug")
    await asleep(fleet, "w1")
    job = int(psql(database_url, "select leasehold.enqueue_job('quick', queue => 'mine', notify => false)"))
    psql(database_url, "notify leasehold, 'wake:other'; notify leasehold, 'no such word'; notify leasehold, 'lost:x:y'")
    await worker.until_line("nobody understands")
    assert (await fleet.client.get(job)).state == "pending"
    psql(database_url, "notify leasehold, 'wake:mine'")
    assert "woken=True" in await worker.until_line(f"claimed job {job} ")
    await fleet.job(job, "completed")
    again = int(psql(database_url, "select leasehold.enqueue_job('quick', queue => 'mine', notify => false)"))
    psql(database_url, "notify leasehold, 'wake'")
    await fleet.job(again, "completed")
    assert worker.output.count("nobody understands") == 1


async def test_notify_reap_and_tick_have_the_reaper_and_the_scheduler_look(
    fleet: Fleet, psql: Psql, database_url: str
) -> None:
    actors = fleet.run("reaper", "scheduler", **LONG_POLL)
    await actors.until_line("running reaper")
    psql(
        database_url,
        "select leasehold.enqueue_job('quick'), leasehold.enqueue_job('quick', delay => '1 day', queue => 'later')",
    )
    psql(
        database_url,
        "select leasehold.claim_jobs(gen_random_uuid(), 'gone', array['default'], lease => '1 microsecond')",
    )
    psql(database_url, "update leasehold.jobs set run_at = now() where queue = 'later'")

    async def states() -> bool:
        psql(database_url, "notify leasehold, 'reap'; notify leasehold, 'tick'")
        return await fleet.value("select array_agg(state order by id) from leasehold.jobs") == ["pending", "pending"]

    await eventually(states)


async def test_with_notifications_off_a_job_starts_within_the_poll_interval(fleet: Fleet) -> None:
    await fleet.worker("deaf", LEASEHOLD_NOTIFY="off", LEASEHOLD_POLL_SECONDS="1")
    await fleet.idle("deaf")
    job = await fleet.client.enqueue("quick")
    record = await fleet.job(job, "completed")
    assert record.claimed_at is not None
    assert await fleet.value("select listening from leasehold.workers") is False
