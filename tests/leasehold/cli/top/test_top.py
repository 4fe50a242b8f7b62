from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl

import pytest

from tests.leasehold.cli.conftest import Cli, Psql, Sql
from tests.support.processes import clean_environment
from tests.support.waiting import PATIENCE

LOAD = """
select leasehold.register_worker('00000000-0000-0000-0000-000000000001', 'pod-1', 'host', 7, '1.2', '{}', '{}', 3, true);
select count(*) from leasehold.enqueue_jobs((select jsonb_agg(jsonb_build_object('kind', 'crawl', 'queue', 'shops'))
  from generate_series(1, 5)));
select from leasehold.claim_jobs('00000000-0000-0000-0000-000000000001', 'pod-1', batch => 2);
select from leasehold.fail_jobs('00000000-0000-0000-0000-000000000001', '{1}', '{1}',
    array['{"type": "ValueError", "message": "boom\\u001b[31m", "traceback": ""}']::jsonb[], discard => '{true}');
"""
UNSTEADY = re.compile(r"\d\d:\d\d:\d\d( UTC)?|\d+(\.\d+)?(ms|s)\b( ago)?")


def steady(text: str) -> list[str]:
    """Lines without times and without the room between sections."""
    return [" ".join(UNSTEADY.sub("<time>", line).split()) for line in text.splitlines() if line.strip()]


def test_one_frame_shows_queues_workers_and_failures(cli: Cli, sql: Sql) -> None:
    sql(LOAD)
    done = cli("top", "--once", "--interval", "0.1")
    assert done.code == 0
    lines = steady(done.out)
    assert lines[:5] == [
        "leasehold <time> ready 3 later 0 held 1 in ·/s out ·/s",
        "workers 1 ready 1 jobs for 3 slots",
        "queues 1",
        "queue ready later held oldest in/s out/s fail/s ended/s",
        "shops 3 · 1 <time> · · · ▁",
    ]
    assert lines[5].startswith("workers 1")
    assert lines[7].startswith("pod-1 (")
    assert lines[-3:] == [
        "at job kind queue message",
        r"<time> 1#1 crawl shops ValueError: boom\x1b[31m",
        "q quit p pause tab section ↑↓ scroll",
    ]


def test_for_programs_it_writes_json(cli: Cli, sql: Sql) -> None:
    sql(LOAD)
    look = json.loads(cli("top", "--once", "--interval", "0.1", "--output", "json").out)
    assert look["queues"][0]["jobs"] == {"pending": 3, "claimed": 1}
    assert look["fleet"]["held_jobs"] == 1
    assert [each["job_id"] for each in look["failures"]] == [1]
    assert [each["worker_id"] for each in look["workers"]] == ["pod-1"]


def test_kinds_that_nobody_serves_are_noted(cli: Cli, sql: Sql) -> None:
    sql(LOAD.replace("'{}', '{}', 3", "'{}', '{crawl}', 3"))
    sql("select leasehold.enqueue_job('parse', queue => 'shops')")
    done = cli("top", "--once", "--interval", "0.1")
    assert "1 unserved kinds" in done.out
    assert "shops  nobody serves parse" in done.out
    assert json.loads(cli("top", "--once", "--interval", "0.1", "--output", "json").out)["queues"][0][
        "unserved_kinds"
    ] == ["parse"]


def test_an_interval_that_would_load_the_database_is_refused(cli: Cli) -> None:
    done = cli("top", "--interval", "0.01")
    assert done.code == 2
    assert "interval" in done.err


class Screen:
    """`leasehold top` on a terminal of its own."""

    def __init__(self, database_url: str, width: int, height: int) -> None:
        self.master, slave = pty.openpty()
        self.resize(width, height)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        env = clean_environment({"LEASEHOLD_DATABASE_URL": database_url, "TERM": "xterm-256color"})
        for fixed in ("COLUMNS", "LINES"):
            env.pop(fixed, None)
        command = [sys.executable, "-m", "leasehold", "top", "--interval", "0.1"]
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True
        )
        self.text = ""

    def resize(self, width: int, height: int) -> None:
        ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def until(self, words: str, timeout: float = PATIENCE) -> None:
        """Read until these words came since the last call."""
        deadline = time.monotonic() + timeout
        while words not in self.text:
            ready, _, _ = select.select([self.master], [], [], deadline - time.monotonic())
            assert ready, f"{words!r} did not come: {self.text[-2000:]!r}"
            self.text += os.read(self.master, 65_536).decode(errors="replace")
        self.text = ""

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.mark.acceptance
def test_on_a_terminal_it_obeys_keys_follows_its_size_and_leaves_everything_as_it_was(
    psql: Psql, database_url: str
) -> None:
    psql(database_url, LOAD)
    screen = Screen(database_url, 80, 24)
    try:
        screen.until("pod-1")
        screen.press("p")
        screen.until("PAUSED")
        screen.press("p\t")
        screen.until("p pause")
        screen.resize(160, 50)
        os.killpg(screen.process.pid, signal.SIGWINCH)
        screen.until("heartbeat")
        screen.press("q")
        screen.until("\x1b[?1049l")
        assert screen.process.wait(PATIENCE) == 0
        assert termios.tcgetattr(screen.slave) == screen.before
    finally:
        screen.close()
