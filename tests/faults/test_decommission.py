"""A worker that is taken out of service, in whichever way, ends in good order, and no job is lost."""

from __future__ import annotations

import subprocess
import sys

import pytest
import trio

from leasehold.jobs.new_job import NewJob
from tests.gateway.fakes.running import running_service
from tests.support.fleet import Fleet
from tests.support.processes import clean_environment
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.acceptance

QUICK_JOBS = 300


def by_sql(fleet: Fleet) -> None:
    """As somebody with psql would."""

    async def tell() -> None:
        await fleet.value("select leasehold.command_worker('leaving', 'decommission')")

    trio.from_thread.run(tell)


def by_cli(fleet: Fleet) -> None:
    """As somebody at a terminal would."""
    subprocess.run(
        [sys.executable, "-m", "leasehold", "workers", "decommission", "leaving"],
        env=clean_environment({"LEASEHOLD_DATABASE_URL": fleet.database.dsn}),
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )


def by_http(fleet: Fleet) -> None:
    """As a dashboard would."""
    with running_service(fleet.database.dsn) as gateway:
        answer = gateway.call(
            "POST", "/api/workers/leaving/commands", {"command": "decommission"}, {"Prefer": "wait=20"}
        )
        assert (answer.status, answer.body["state"]) == (200, "done")


@pytest.mark.parametrize("decommission", [by_sql, by_cli, by_http])
async def test_a_decommissioned_worker_ends_and_another_does_the_rest(fleet: Fleet, decommission: object) -> None:
    assert callable(decommission)
    leaving = await fleet.worker("leaving", LEASEHOLD_SLOTS="2", LEASEHOLD_HEARTBEAT_SECONDS="600")
    long = await fleet.client.enqueue("hold", {"seconds": 2.0})
    await fleet.job(long, "running")
    made = await fleet.client.enqueue_many([NewJob(kind="quick")] * QUICK_JOBS)
    await trio.to_thread.run_sync(decommission, fleet)
    assert await leaving.until_exit() == 0
    assert (await fleet.client.get(long)).state == "completed"
    assert await fleet.value("select count(*) from leasehold.jobs where state <> 'pending'") == 0
    await fleet.worker("staying")
    for each in made:
        assert (await fleet.job(each.job_id, "completed")).attempt >= 1
    assert await fleet.value("select count(*) from leasehold.finished_jobs where state = 'completed'") == QUICK_JOBS + 1
    assert await fleet.value("select sum(attempt - spared_attempts) from leasehold.finished_jobs") == QUICK_JOBS + 1
