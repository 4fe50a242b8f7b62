"""Following what happens, from a process of its own."""

from __future__ import annotations

import json
import signal

import pytest

from tests.support.fleet import Fleet
from tests.support.processes import LeaseholdProcess, StartProcess
from tests.support.waiting import until

pytestmark = pytest.mark.acceptance


def completed_jobs(process: LeaseholdProcess) -> list[int]:
    """The completions that it has printed, in their order."""
    return [json.loads(line)["job_id"] for line in process.stdout.splitlines() if '"job_completed"' in line]


async def test_following_prints_what_happens_as_it_happens(fleet: Fleet, start_process: StartProcess) -> None:
    before = await fleet.client.enqueue("quick")
    await fleet.worker("w1")
    await fleet.job(before, "completed")
    process = start_process(["events", "--follow", "--output", "jsonl"], {"LEASEHOLD_DATABASE_URL": fleet.database.dsn})
    await process.until_line(f'"job_id":{before}')
    job = await fleet.client.enqueue("quick")
    await until(lambda: completed_jobs(process) == [before, job])
    process.signal(signal.SIGINT)
    await process.until_exit()
    assert completed_jobs(process) == [before, job]
