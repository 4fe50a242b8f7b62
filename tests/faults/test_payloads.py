"""Processes that die while they save or delete a payload, a disk that is full, and memory that stays small."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from leasehold import Client
from leasehold.database import Database
from leasehold.payloads.archive import delete_old_payloads
from leasehold.payloads.options import PayloadOptions
from leasehold.payloads.stores import FolderStore
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
DAY = 86_400.0
LARGE_ARGS = ("before the row of large args", "before the commit of large args")
Run = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def run(database_url: str, tmp_path: Path) -> Run:
    """Runs the program that dies at a point."""

    def call(point: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-m", "tests.support.payload_app", point, database_url, str(tmp_path)]
        return subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE * 2)

    return call


@pytest.fixture
def client(database: Database, tmp_path: Path) -> Client:
    return Client(database, payloads=PayloadOptions(FolderStore(tmp_path)))


def files(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


def make_older(folder: Path) -> None:
    for file in files(folder):
        written_at = time.time() - 1.1 * DAY
        os.utime(file, (written_at, written_at))


@pytest.mark.acceptance
@pytest.mark.parametrize("point", ["while writing", "before the row", "before the commit", *LARGE_ARGS])
async def test_who_dies_while_saving_leaves_a_file_that_the_audit_finds(
    run: Run, client: Client, tmp_path: Path, point: str
) -> None:
    kept = await client.payloads.save([2], kind="x")
    died = run(point)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert await client.payloads.list() == [kept]
    assert await client.jobs.list() == []
    assert len(files(tmp_path)) == 2
    assert await client.payloads.audit(repair=True) == []
    make_older(tmp_path)
    [found] = await client.payloads.audit()
    assert (found.finding, found.is_repaired) == ("file_of_nobody", False)
    [repaired] = await client.payloads.audit(repair=True)
    assert repaired.is_repaired
    assert [each.relative_to(tmp_path).as_posix() for each in files(tmp_path)] == [kept.location]


@pytest.mark.acceptance
@pytest.mark.parametrize("point", ["before the content is deleted", "before the row is deleted"])
async def test_who_dies_while_deleting_is_followed_by_the_next_round(
    run: Run, client: Client, database: Database, tmp_path: Path, point: str
) -> None:
    old, young = await client.payloads.save([1], kind="x"), await client.payloads.save([2], kind="x")
    await database.fetch(
        "update leasehold.payloads set created_at = created_at - interval '40 days' where id = $1", old.id
    )
    assert run(point).returncode == -signal.SIGKILL
    assert await client.payloads.list() == [young]
    assert await delete_old_payloads(client.payloads.archive(), 30) == 1
    assert [row["id"] for row in await database.fetch("select id from leasehold.payloads")] == [young.id]
    assert [each.relative_to(tmp_path).as_posix() for each in files(tmp_path)] == [young.location]
    assert await client.payloads.audit() == []


@pytest.mark.acceptance
async def test_a_full_disk_is_told_and_nothing_is_left(run: Run, client: Client, tmp_path: Path) -> None:
    told = run("disk full")
    assert "cannot be written" in told.stdout, told.stderr
    assert "File too large" in told.stdout
    assert files(tmp_path) == []
    assert await client.payloads.list() == []


@pytest.mark.acceptance
def test_a_large_payload_takes_little_memory(run: Run) -> None:
    told = run("96")
    size, grown = map(int, told.stdout.split())
    assert size == 96
    assert grown < 48
