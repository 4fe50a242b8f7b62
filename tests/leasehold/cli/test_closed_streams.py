"""Commands whose standard streams were closed by whoever started them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.acceptance


def run_in_shell(command: str, dsn: str) -> subprocess.CompletedProcess[str]:
    """What a shell gets of `leasehold` with some of its streams closed."""
    environ = os.environ | {"LEASEHOLD_DATABASE_URL": dsn}
    script = f"exec {sys.executable} -m leasehold {command}"
    return subprocess.run(
        ["sh", "-c", script], check=False, capture_output=True, text=True, timeout=PATIENCE * 2, env=environ
    )


UNREAD = [
    "--help", "config show", "dsn", "enqueue echo", "jobs list --output json", "events", "events --follow", "top --once", "top",
    "events --follow --event job_failed", "jobs logs 2 --follow", "payloads list --help",
]  # fmt: skip


def test_a_command_that_nobody_reads_any_more_ends_without_a_word(database_url: str) -> None:
    for command in ("enqueue echo", "enqueue echo", "jobs cancel 1"):
        run_in_shell(command, database_url)
    environ = os.environ | {"LEASEHOLD_DATABASE_URL": database_url}
    reading, writing = os.pipe()
    os.close(reading)
    for command in UNREAD:
        words = [sys.executable, "-m", "leasehold", *command.split()]
        done = subprocess.run(
            words, check=False, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=PATIENCE * 2, env=environ
        )
        assert (done.returncode, done.stderr) == (141, ""), command
    os.close(writing)
    kept = run_in_shell("jobs list --output jsonl", database_url).stdout
    assert len(kept.splitlines()) == 3  # what the unread command has enqueued is there


def test_a_command_does_its_work_whichever_streams_are_closed(database_url: str) -> None:
    for closed, is_interrupted in (("2>&-", True), (">&-", False), (">&- 2>&-", False), ("<&- >&- 2>&-", False)):
        done = run_in_shell(f"enqueue echo {closed}", database_url)
        assert (done.returncode, done.stderr, bool(done.stdout)) == (0, "", is_interrupted), closed
    done = run_in_shell("jobs list --output jsonl 2>&-", database_url)
    assert [json.loads(line)["kind"] for line in done.stdout.splitlines()] == ["echo"] * 4


def test_what_a_full_disk_does_not_take_is_said_on_standard_error(database_url: str) -> None:
    done = run_in_shell("enqueue echo >/dev/full", database_url)
    assert done.returncode == 1
    assert "the command is done, but standard output took nothing (No space left on device)" in done.stderr
    kept = json.loads(run_in_shell("jobs list --output jsonl", database_url).stdout)
    assert json.loads(done.stderr.split("): ")[-1])["job_id"] == kept["id"]


def test_so_is_text_that_a_command_writes_itself(database_url: str) -> None:
    for command in ("dsn", "top --once", "migrate --emit", "grants --emit"):
        done = run_in_shell(f"{command} >/dev/full", database_url)
        assert (done.returncode, "No space left on device" in done.stderr) == (1, True), command


def test_an_error_without_a_place_to_say_it_is_told_by_the_exit_code() -> None:
    assert run_in_shell("status --nonsense 2>&-", "").returncode == 2
