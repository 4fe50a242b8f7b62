from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from tests.leasehold.cli.conftest import Cli, Sql

ONE = "00000000-0000-0000-0000-000000000001"
WORKER = f"""
select leasehold.register_worker('{ONE}', 'pod-1', 'host-1', 77, '0.1.0', '{{crawl}}', '{{fetch}}', 3, true,
                                 'brave-otter', '7.1', 2147483648, 2);
"""
FULL = f"""
select leasehold.heartbeat_worker('{ONE}', 1, 'ready', true, 3, 0.87, 0.5, 'memory 87 % of 2.0 GiB (limit 85 %)', 10, 2);
"""
# Every session that begins from now on sees this time.
NOON = """
do $$begin execute format('alter database %I set leasehold.frozen_clock = %L', current_database(), '2030-01-01 12:00:20Z'); end$$;
update leasehold.workers set heartbeat_at = '2030-01-01 12:00:00Z';
"""


@pytest.fixture
def worker(cli: Cli, sql: Sql) -> None:
    """One that holds a job and lacks a kind."""
    sql(
        "select leasehold.enqueue_job('fetch', queue => 'crawl'); "
        "select leasehold.enqueue_job('parse', queue => 'crawl')"
    )
    claim = f"select leasehold.claim_jobs('{ONE}', 'pod-1', '{{crawl}}', '{{fetch}}')"
    sql(f"{WORKER}{claim};{FULL}{NOON}")


@pytest.mark.usefixtures("worker")
def test_workers_are_listed_with_what_is_odd_about_them(cli: Cli) -> None:
    shown = cli("workers", "list", "--output", "text", environ={"COLUMNS": "200"})
    assert shown.steady == "\n".join(
        [
            "worker  name         state  jobs  queues  memory  cpu  heartbeat  note",
            "pod-1   brave-otter  ready   1/3  crawl      87%  50%  20s ago    backing off: memory 87 % of 2.0 GiB "
            "(limit 85 %); 2 lost wake-ups; no handler for parse",
        ]
    )


def test_nobody_is_listed_where_there_is_nobody(cli: Cli) -> None:
    assert cli("workers", "list", "--output", "text").err == "none\n"
    assert cli("workers", "list", "--output", "json").json() == []


@pytest.mark.usefixtures("worker")
def test_programs_get_everything(cli: Cli) -> None:
    [listed] = msgspec.json.decode(cli("workers", "list", "--output", "json").out, type=list[dict[str, Any]])
    chosen = {name: listed[name] for name in ("worker_id", "name", "app_version", "active_job_ids", "missing_kinds")}
    assert chosen == {
        "worker_id": "pod-1",
        "name": "brave-otter",
        "app_version": "7.1",
        "active_job_ids": [1],
        "missing_kinds": ["parse"],
    }


@pytest.mark.usefixtures("worker")
def test_one_is_shown_by_any_of_its_names(cli: Cli) -> None:
    for called in ["pod-1", "brave-otter", "brave", ONE, ONE[:9]]:
        shown = msgspec.json.decode(cli("workers", "show", called, "--output", "json").out, type=dict[str, Any])
        assert shown["worker"]["incarnation"] == ONE


@pytest.mark.usefixtures("worker")
def test_one_is_shown_with_its_commands(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.command_worker('pod-1', 'set_concurrency', '{\"slots\": 5}')")
    sql(f"select leasehold.acknowledge_command('{ONE}', 1, error => 'five are too many')")
    lines = cli("workers", "show", "brave-otter", "--output", "text").steady.splitlines()
    shown = [re.split("  +", line.strip()) for line in lines]
    assert shown[:13] == [
        ["worker", "pod-1"],
        ["name", "brave-otter"],
        ["state", "ready"],
        ["note", "backing off: memory 87 % of 2.0 GiB (limit 85 %); 2 lost wake-ups; no handler for parse"],
        ["process", "77 on host-1"],
        ["incarnation", ONE],
        ["leasehold", "0.1.0"],
        ["app version", "7.1"],
        ["queues", "crawl"],
        ["kinds", "fetch"],
        ["jobs", "1 in 3 slots: 1"],
        ["memory", "87% of 2.0 GiB"],
        ["cpu", "50% of 2 CPUs"],
    ]
    assert [line[0] for line in shown[13:]] == ["started", "heartbeat", "", "command", "1"]
    assert shown[16] == ["command", "what", "state", "told", "answer"]
    assert [*shown[17][:3], shown[17][4]] == ["1", "set_concurrency slots=5", "failed", "five are too many"]


def test_an_unknown_one_is_said_to_be_unknown(cli: Cli) -> None:
    shown = cli("workers", "show", "nobody")
    assert (shown.code, shown.out) == (3, "")
    assert "there is no worker nobody" in shown.err
