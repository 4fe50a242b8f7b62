"""The processes of our Procfile under a launcher that sends SIGTERM, and SIGKILL five seconds later to whatever is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from pathlib import Path

import pytest
import trio

from tests.support.fleet import APP, Fleet, open_fleet
from tests.support.processes import StartProcess
from tests.support.waiting import PATIENCE, eventually, until

pytestmark = pytest.mark.acceptance

ROOT = Path(__file__).parents[2]
Honcho = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def honcho(fleet: Fleet) -> Generator[Honcho]:
    """Starts processes of our Procfile under honcho."""
    started: list[subprocess.Popen[str]] = []

    def start(*names: str, dsn: str = fleet.database.dsn) -> subprocess.Popen[str]:
        scripts = str(Path(sys.executable).parent)
        process = subprocess.Popen(
            [
                sys.executable,
                "-u",  # honcho's signal handler prints; a buffered stream that is just printing refuses that, and honcho dies
                "-m",
                "honcho",
                "-f",
                str(ROOT / "Procfile"),
                "start",
                *(names or ("worker", "scheduler")),
            ],
            env=environment(dsn, f"{scripts}{os.pathsep}{os.environ['PATH']}"),
            cwd=ROOT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=PATIENCE)


def environment(dsn: str, path: str) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LEASEHOLD_")}
    settings = {
        "LEASEHOLD_DATABASE_URL": dsn,
        "LEASEHOLD_APP": APP,
    }
    return {**kept, **settings, "PATH": path, "PYTHONPATH": str(ROOT)}


async def stopped(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGTERM)
    output, _ = await trio.to_thread.run_sync(process.communicate)
    return output


async def test_on_a_database_without_a_schema_all_can_be_started_together(
    honcho: Honcho, empty_database_url: str, start_process: StartProcess
) -> None:
    process = honcho("worker", "scheduler", "release", dsn=empty_database_url)
    async with open_fleet(empty_database_url, start_process) as fleet:

        async def is_there() -> bool:
            found = await fleet.value("select to_regclass('leasehold.workers') is not null")
            return found and await fleet.value("select count(*) from leasehold.workers where state = 'ready'") == 1

        await eventually(is_there)
        await fleet.job(await fleet.client.enqueue("quick"), "completed")
    output = await stopped(process)
    assert "SIGTERM received" in output
    assert "ended" not in output.partition("SIGTERM received")[0]


async def test_a_decommissioned_worker_does_not_end_the_others(fleet: Fleet, honcho: Honcho) -> None:
    process = honcho()

    async def names() -> list[str]:
        return [row["worker_id"] for row in await fleet.database.fetch("select worker_id from leasehold.workers")]

    [worker] = await eventually(names)
    await fleet.value("select leasehold.command_worker($1, 'decommission')", worker)

    def until_it_stays() -> list[str]:
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line)
            if "the worker was decommissioned; this process waits" in line:
                return lines
        pytest.fail("honcho has ended\n" + "".join(lines))

    seen = await trio.to_thread.run_sync(until_it_stays)
    assert "stopped (rc=" not in "".join(seen)
    assert "SIGTERM received" in await stopped(process)


async def test_a_job_that_takes_longer_than_the_launcher_waits_is_handed_back_and_charged_nothing(
    fleet: Fleet, honcho: Honcho
) -> None:
    process = honcho()
    jobs = [await fleet.client.enqueue("hold", {"seconds": 600}) for _ in range(2)]
    for job in jobs:
        await fleet.job(job, "running")
    output = await stopped(process)
    assert "sending SIGKILL" not in output, output
    for job in jobs:
        record = await fleet.client.get(job)
        assert (record.state, record.attempt - record.spared_attempts) == ("pending", 0), output


async def test_where_the_launcher_has_to_kill_the_neighbours_of_the_culprit_are_charged_nothing(
    fleet: Fleet, honcho: Honcho, tmp_path: Path
) -> None:
    process = honcho()
    innocent = await fleet.client.enqueue("hold", {"seconds": 600})
    await fleet.job(innocent, "running")
    os.mkfifo(tmp_path / "1")
    culprit = await fleet.client.enqueue("hold_interpreter", {"folder": str(tmp_path)})
    await until((tmp_path / "1.held").exists)
    held_by = (await fleet.client.get(innocent)).worker_id
    await stopped(process)
    fleet.run("reaper")
    await fleet.expire(str(held_by))

    async def given_back() -> bool:
        return {(await fleet.client.get(each)).state for each in (innocent, culprit)} <= {"pending", "scheduled"}

    await eventually(given_back)
    record = await fleet.client.get(innocent)
    assert record.attempt - record.spared_attempts == 0
