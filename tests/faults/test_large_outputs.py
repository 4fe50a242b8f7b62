"""A worker that is killed between the content of a large output in the store and its commit."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from leasehold import Client
from leasehold.payloads.options import PayloadOptions
from leasehold.payloads.stores import FolderStore
from tests.support.fleet import open_fleet
from tests.support.processes import StartProcess

pytestmark = pytest.mark.acceptance


def make_older(folder: Path) -> int:
    """As if they had been written more than a day ago; returns how many files there are."""
    files = [each for each in folder.rglob("*.gz") if each.is_file()]
    for file in files:
        os.utime(file, (time.time() - 100_000, time.time() - 100_000))
    return len(files)


@pytest.mark.parametrize("kind", ["crawl", "crawl_atomically"])
async def test_the_next_attempt_has_its_output_and_the_audit_finds_what_the_first_left(
    database_url: str, start_process: StartProcess, tmp_path: Path, kind: str
) -> None:
    app = {"LEASEHOLD_APP": "tests.support.large_app:app", "LEASEHOLD_PAYLOADS_STORE": str(tmp_path)}
    async with open_fleet(database_url, start_process, **app) as fleet:
        victim = await fleet.worker("victim", **app, CRASH="1")
        job_id = await fleet.client.enqueue(kind)
        assert await victim.until_exit() == -signal.SIGKILL
        await fleet.expire("victim")
        fleet.run("reaper")
        await fleet.worker("heir", **app)
        assert (await fleet.job(job_id, "completed")).attempt == 2
        client = Client(fleet.database, payloads=PayloadOptions(FolderStore(tmp_path)))
        assert (await client.get(job_id)).output == ["x" * 1_000] * 1_000
        [payload] = await client.payloads.list()
        assert payload.job_id == job_id
        assert make_older(tmp_path) == 2
        [found] = await client.payloads.audit(repair=True)
        assert (found.finding, found.is_repaired) == ("file_of_nobody", True)
        assert await client.payloads.audit() == []
