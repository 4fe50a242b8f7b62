"""docs/testing.md: its tests run as those of a user, and the crash that it shows is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.pages.reading import ROOT, blocks_of
from tests.support.processes import clean_environment
from tests.support.waiting import PATIENCE

PAYING = """
from leasehold import Job


@pytest.fixture(autouse=True)
def payments(leasehold_kit: Kit) -> None:
    leasehold_kit.fetch("create table if not exists payments (job_id bigint)")


@app.kind
async def pay(job: Job, order: int) -> None:
    async with job.complete() as tx:
        await tx.execute("insert into payments values ($1)", job.id)
"""


@pytest.mark.timeout(PATIENCE * 5)  # a program that takes seconds of its own
def test_the_tests_of_the_page_run(tmp_path: Path, fresh_database_url: str) -> None:
    first, second = (block.text for block in blocks_of(ROOT / "docs" / "testing.md") if block.language == "python")
    (tmp_path / "test_page.py").write_text(f"{first}\n{PAYING}\n\n{second}")
    environ = clean_environment({"LEASEHOLD_TEST_DATABASE_URL": fresh_database_url})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_page.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environ, check=False, capture_output=True, text=True, timeout=PATIENCE * 4
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr
