"""Following what happens, from a process of its own."""

from __future__ import annotations

import json
import signal

import pytest

from tests.support.fleet import Fleet
from tests.support.processes import StartProcess

pytestmark = pytest.mark.acceptance


async def test_following_prints_what_happens_as_it_happens(fleet: Fleet, start_process: StartProcess) -> None:
    before = await fleet.client.enqueue("quick")
    await fleet.worker("w1")
    await fleet.job(before, "completed")
    process = start_process(["events", "--follow", "--output", "jsonl"], {"LEASEHOLD_DATABASE_URL": fleet.database.dsn})
    await process.until_line(f'"job_id":{before}')
    job = await fleet.client.enqueue("quick")
    line = await process.until_line('"event":"job_completed","at":', after=process.line_count - 1)
    while json.loads(line)["job_id"] != job:
        line = await process.until_line('"event":"job_completed"', after=process.line_count)
    process.signal(signal.SIGINT)
    await process.until_exit()
    ends = [json.loads(each) for each in process.stdout.splitlines() if '"job_completed"' in each]
    assert [each["job_id"] for each in ends] == [before, job]
