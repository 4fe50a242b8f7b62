"""A worker that is taken out of service, in whichever way, ends in good order, and no job is lost."""

from __future__ import annotations

import http.client
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from leasehold.jobs.new_job import NewJob
from tests.gateway.fakes.running import running_service
from tests.support.fleet import Fleet
from tests.support.processes import StartProcess, clean_environment
from tests.support.waiting import PATIENCE, eventually

pytestmark = pytest.mark.acceptance

QUICK_JOBS = 300
STAYS = "the worker was decommissioned; this process waits, idle, for the signal to end"


PROBES = ("/livez", "/readyz", "/startupz")
CONNECTIONS = "select count(*) from pg_stat_activity where datname = current_database() and application_name like $1"


def status(port: int, path: str) -> int:
    """What a probe answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


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
async def test_a_decommissioned_worker_ends_and_another_does_the_rest(
    fleet: Fleet, decommission: object, tmp_path: Path
) -> None:
    assert callable(decommission)
    leaving = await fleet.worker("leaving", LEASEHOLD_SLOTS="2", LEASEHOLD_HEARTBEAT_SECONDS="600")
    long = await fleet.client.enqueue("hold_until", {"until": str(tmp_path / "end")})
    await fleet.job(long, "running")
    quick = await fleet.client.enqueue_many([NewJob(kind="quick")] * QUICK_JOBS)
    await trio.to_thread.run_sync(decommission, fleet)
    await leaving.until_line("told to decommission")
    (tmp_path / "end").touch()
    assert await leaving.until_exit() == 0
    assert (await fleet.client.get(long)).state == "completed"
    assert await fleet.value("select count(*) from leasehold.jobs where state <> 'pending'") == 0
    await fleet.worker("staying")
    for job_id in quick:
        assert (await fleet.job(job_id, "completed")).attempt >= 1
    assert await fleet.value("select count(*) from leasehold.finished_jobs where state = 'completed'") == QUICK_JOBS + 1
    assert await fleet.value("select sum(attempt - spared_attempts) from leasehold.finished_jobs") == QUICK_JOBS + 1


async def test_where_its_end_would_end_others_the_process_stays_lives_and_has_no_connection(fleet: Fleet) -> None:
    worker = await fleet.worker("leaving", HONCHO_PROCESS_NAME="worker.1", LEASEHOLD_PROBE_PORT="0")
    await worker.until_line("probes answer at")
    before = worker.line_count
    await trio.to_thread.run_sync(by_sql, fleet)
    await worker.until_line(STAYS, after=before)
    port = int((await worker.until_line("probes answer at", after=before)).rpartition(":")[2])
    assert [await trio.to_thread.run_sync(status, port, path) for path in PROBES] == [200, 503, 200]

    async def is_cut_off() -> bool:
        return not await fleet.value(CONNECTIONS, f"leasehold worker {worker.pid}%")

    await eventually(is_cut_off)
    assert worker.exit_code is None
    assert worker.terminate() == 0


@pytest.mark.parametrize("command", [["up", "--yes", "--port", "0"], ["run", "worker", "--workers", "2"]])
async def test_who_keeps_workers_running_does_not_start_it_again(
    fleet: Fleet, start_process: StartProcess, command: list[str]
) -> None:
    environ = {"LEASEHOLD_DATABASE_URL": fleet.database.dsn, "LEASEHOLD_POLL_SECONDS": "0.5"}
    keeper = start_process([*command, "--log-format", "text"], environ)
    await keeper.until_line("worker.1")
    await keeper.until_line("starting worker")

    async def names() -> list[str]:
        return [
            row["worker_id"] for row in await fleet.database.fetch("select worker_id from leasehold.workers order by 1")
        ]

    [leaving, *_] = await eventually(names)
    await fleet.value("select leasehold.command_worker($1, 'decommission')", leaving)
    await keeper.until_line(STAYS)
    assert await trio.to_thread.run_sync(keeper.terminate) == 0
    assert "starting it again" not in keeper.output
