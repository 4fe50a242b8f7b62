"""Every benchmark runs and reports in the shape that is promised. Nothing is timed: sizes are tiny."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from benchmarks.catalogue import BENCHMARKS
from benchmarks.command import main, run
from benchmarks.report import Report, print_report
from benchmarks.server import ROOT
from benchmarks.server import Server as MeasuredServer
from benchmarks.wrk import find_wrk
from tests.support.processes import clean_environment
from tests.support.servers import Server
from tests.support.waiting import PATIENCE

EXPECTED = {
    "drain": ("one worker", "two workers", "one worker: commits", "one worker: WAL", "one worker: CPU of Python"),
    "enqueue": ("client.enqueue, one by one", "client.enqueue_many, 1000 at once"),
    "pickup": (
        "by SQL, after the commit, p50",
        "by HTTP, after the commit, p99",
        "a job in the future, after its time, p99",
    ),
    "connections": (
        "Django: savepoint",
        "psycopg: statements added",
        "SQLAlchemy Session: wake-up after the commit, p50",
    ),
    "serializable": ("0 idle workers: aborted", "2 idle workers: aborted"),
    "http": ("2 connections, p99 pick-up of these jobs",) if find_wrk() else (),
    "idle": ("idle: statements of all three", "idle, notifications off: CPU of the worker"),
    "fleet": (
        "4 idle workers: statements",
        "CPU of Postgres",
        "HOT share of the updates",
        "last claim after a queue was paused",
    ),
    "herd": ("50 jobs a second, 1 workers: CPU of Postgres", "50 jobs a second, 4 workers: until claimed, p99"),
    "sleepers": ("40 idle, 32 listen, polls each 6.25 s: CPU of Postgres",),
    "steady": ("15 jobs a second: CPU of the process", "transactions for each job"),
    "backlog": ("3,000 pending jobs, claims of 400, speed against 800",),
    "horizon": ("share of the run without", "minute 1: p99 of claims"),
    "growth": (
        "get_job, a finished one: 1,000 finished jobs against 100",
        "claim_jobs, 10: 1,000 finished jobs against 100",
    ),
    "kinds": ("a flat schema: 1,000 at once", "mixed, one of two to fill in: enqueue_job, at best"),
    "slots": ("waits 1 ms, 4 slots", "waits 50 ms, 4 slots", "computes 1 ms, 4 slots"),
    "memory": ("idle worker", "peak over 2,000 jobs"),
    "table": ("all of it: insert", "columns of plain jobs alone: WAL"),
    "tabs": (
        "50 tabs, streams, idle: CPU of gateway and Postgres",
        "50 tabs, overviews, 5 jobs/s: listening more",
    ),
    "ticks": ("ticks fired", "ticks fired twice", "ticks missing", "after the tick, p99"),
}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_reports_what_it_is_for(name: str, postgres_server: Server) -> None:
    report = run(MeasuredServer(postgres_server.dsn()), [name], "tiny")
    figures = {figure.name: figure for figure in report.results[name].figures}
    assert set(EXPECTED[name]) <= figures.keys()
    assert all(math.isfinite(figure.value) for figure in figures.values())
    assert_readable(report, name)
    assert_machine_readable(report, name)


def assert_readable(report: Report, name: str) -> None:
    console = Console(record=True, width=120, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    with console.file:
        print_report(report, console)
    text = console.export_text()
    assert name in text
    assert "raw asyncpg" in text
    assert "too short for figures to be quoted" in text


def assert_machine_readable(report: Report, name: str) -> None:
    document: dict[str, Any] = json.loads(msgspec.json.encode(report))
    assert document["size"] == "tiny"
    assert document["machine"]["postgres"]
    assert set(document["machine"]["settings"]) >= {"fsync", "synchronous_commit", "full_page_writes"}
    assert len(document["results"][name]) > 1, "figures, and what they are made of"
    for figure in document["results"][name]["figures"]:
        assert set(figure) == {"name", "value", "unit", "floor", "at_least", "at_most"}


def test_the_command_writes_the_table_to_stdout_and_json_to_the_file(postgres_server: Server, tmp_path: Path) -> None:
    file = tmp_path / "new" / "result.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "enqueue", "--tiny", "--json", str(file)],
        check=True,
        cwd=ROOT,
        env=clean_environment({"DATABASE_URL": postgres_server.dsn()}),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert "client.enqueue_many" in done.stdout
    assert "enqueue …" in done.stderr
    assert list(json.loads(file.read_text())["results"]) == ["enqueue"]


def test_an_unknown_benchmark_is_refused_with_the_names_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["drains"])
    assert ended.value.code == 2
    assert "no benchmark drains; there are drain, enqueue" in capsys.readouterr().err
