"""The examples as people run them: one command, real worker processes, real signals."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import clean_environment

ROOT = Path(__file__).parents[2]
SECONDS = 150
pytestmark = pytest.mark.acceptance


def run_example(name: str, database_url: str, *args: str) -> str:
    """What `python -m examples.NAME` prints; fails unless it exits with 0."""
    done = subprocess.run(
        [sys.executable, "-m", f"examples.{name}", *args],
        env=clean_environment({"LEASEHOLD_DATABASE_URL": database_url}),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "✗" not in done.stdout
    assert done.stdout.endswith("\npassed\n")
    return done.stdout


def test_every_order_is_paid_booked_and_shipped_once_though_a_worker_dies(database_url: str) -> None:
    printed = run_example("order_payment", database_url)
    assert re.search(r"worker\.\d is booking it and gets SIGKILL", printed)
    assert re.search(r"order 7: .*reaped \((worker\.\d)\) → .*completed \(worker\.\d\)", printed)
    assert re.search(r"order 13: .*reaped \((worker\.\d)\) → .*completed \(worker\.\d\)", printed)
    assert int(re.findall(r"(\d+) × the provider takes the money and hangs up", printed)[0]) > 0
    assert int(re.findall(r"payments booked over SQLAlchemy: (\d+)", printed)[0]) > 0


def test_the_report_of_all_files_is_what_a_plain_count_says(database_url: str) -> None:
    printed = run_example("fan_report", database_url, "msgspec", "asyncpg")
    assert re.search(r"✓ all: Docs\(files=\d\d, ", printed)


def test_four_people_decide_and_a_deadline_does(database_url: str) -> None:
    printed = run_example("approval", database_url)
    assert "leasehold chains complete" in printed
    assert "POST /api/chains/" in printed
    assert "select leasehold.complete_chain(" in printed


def test_a_crawl_loses_nothing_and_doubles_nothing_though_two_workers_die(database_url: str) -> None:
    printed = run_example("shop_crawl", database_url, "8", "40")
    unfetched = "stores without an entry point or a fetch: 0"
    for line in ("killed workers: 2", unfetched, "lost: 0", "doubled: 0", "products that a replay changed: 0"):
        assert f"✓ {line}\n" in printed
    assert printed.count("gets SIGKILL") == 2


def test_a_package_that_is_not_installed_is_refused_at_once(database_url: str) -> None:
    with pytest.raises(AssertionError, match="there is no package unheard_of"):
        run_example("fan_report", database_url, "unheard_of")
