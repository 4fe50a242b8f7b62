from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from leasehold.cli.commands.capacity import CapacityReport, QueueCapacity, parse_hours, parse_percent, view_capacity
from leasehold.cli.runtime.terminal import Terminal
from leasehold.errors import BadInput
from tests.leasehold.cli.conftest import Cli, Sql

SEED = """
do $$begin execute format('alter database %I set leasehold.frozen_clock = %L', current_database(), '2030-01-01 12:00Z'); end$$;
insert into leasehold.finished_jobs (id, created_at, run_at, claimed_at, started_at, finished_at, priority,
       attempt, spared_attempts, max_attempts, state, kind, queue, args)
select nextval('leasehold.jobs_id_seq'), '2030-01-01 11:30Z', '2030-01-01 11:30Z', '2030-01-01 11:40Z',
       '2030-01-01 11:40Z', '2030-01-01 11:40:10Z',
       0, 1, 0, 1, 'completed', 'k', 'crawl', '{}' from generate_series(1, 10);
insert into leasehold.jobs (id, created_at, run_at, state, kind, queue, args)
select nextval('leasehold.jobs_id_seq'), '2030-01-01 11:51Z', '2030-01-01 11:51Z', 'pending', 'k', 'crawl', '{}'
  from generate_series(1, 60);
insert into leasehold.jobs (id, created_at, run_at, state, kind, queue, args)
select nextval('leasehold.jobs_id_seq'), '2030-01-01 11:51Z', '2030-01-01 11:51Z', 'pending', 'k', 'mail', '{}';
insert into leasehold.workers (incarnation, worker_id, host, pid, version, queues, kinds, slots, listening, started_at,
       heartbeat_at, state)
values ('00000000-0000-0000-0000-000000000001', 'w', 'host', 1, '0', '{crawl}', '{}', 2, true, '2030-01-01 11:00Z',
       '2030-01-01 11:59:50Z', 'ready');
"""


@pytest.fixture
def seeded(cli: Cli, sql: Sql) -> Cli:
    """Ten jobs of ten seconds are done, 60 came in the last nine minutes, and there is a worker with two slots."""
    sql(SEED)
    return cli


def test_without_jobs_there_is_nothing_to_show(cli: Cli) -> None:
    assert cli("capacity", "--output", "text").out == "no jobs\n"
    assert cli("capacity", "--output", "json").json() == {"queues": [], "unclaimed": []}


def test_all_queues_are_shown_on_a_line_each(seeded: Cli) -> None:
    assert seeded("capacity", "--output", "text", environ={"COLUMNS": "120"}).out.splitlines() == [
        "queue  pending  ready  held  done/h  failed/h  workers  slots  average  per worker/h  drained in",
        "crawl       60     60     0      10         0        1      2      10s           720          5m",
        "mail         1      1     0       0         0        0      0        -             -           -",
        "kind k in queue mail: no live worker serves it; its jobs wait, the first for 9m, whatever the queue as a whole "
        "says",
    ]


def test_a_queue_is_shown_with_what_it_needs_and_what_becomes_of_it(seeded: Cli) -> None:
    shown = seeded("capacity", "crawl", "--output", "text", "--what-if", "-50%", environ={"COLUMNS": "120"})
    assert shown.out.splitlines() == [
        "queue        crawl",
        "pending      60, of which ready 60",
        "held         0",
        "last hour    10 completed, 0 failed",
        "arrivals     0.1/s in the last ten minutes",
        "a job takes  10s",
        "workers      1 with 2 slots",
        "drained in   5m",
        "as of        2030-01-01 12:00:00.000 UTC",
        "",
        "through in  workers",
        "1 h               1",
        "4 h               1",
        "8 h               1",
        "",
        "95 of 100 jobs start within 30s with 11 workers",
        "",
        "what if            workers  arrivals  busy  waiting    mean wait     p95 wait    next hour  drained in",
        "as it is                 1     0.1/s   50%      33%         1.7s         9.5s       3m 57s      9m 40s",
        "one worker less          0     0.1/s     -     100%  without end  without end  without end       never",
        "-50% load                1    0.05/s   25%      10%        333ms         2.3s        4m 4s      6m 26s",
        "as it ought to be       11     0.1/s    5%       0%          0ms          0ms         8.2s         18s",
    ]


def test_what_is_reckoned_from_a_count_that_ended_early_is_told_as_the_least(seeded: Cli) -> None:
    plan = msgspec.json.decode(seeded("capacity", "crawl", "--output", "json").out, type=QueueCapacity)
    partial = msgspec.structs.replace(plan, capacity=msgspec.structs.replace(plan.capacity, is_partial=True))
    told = drawn(partial)
    assert {"pending      60 or more, of which ready 60 or more", "drained in   5m or more"} <= set(told)
    assert told[10:13] == ["through in    workers", "1 h         1 or more", "4 h         1 or more"]
    assert "95 of 100 jobs start within 30s with 11 or more workers" in told
    assert told[-4].endswith("  9.5s  3m 57s or more   9m 40s or more")
    assert told[-3].endswith("     without end            never")
    [_, line] = drawn(CapacityReport(queues=[partial.capacity], unclaimed=[]))
    assert (line.split("  ")[1].strip(), line.endswith("  5m or more")) == ("60 or more", True)


def drawn(report: CapacityReport | QueueCapacity) -> list[str]:
    out = io.StringIO()
    console = Terminal(stdout=out).console()
    for part in view_capacity(report, datetime.now(UTC)):
        console.print(part)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_programs_get_the_plan_as_it_is(seeded: Cli) -> None:
    plan: Any = seeded("capacity", "crawl", "--hours", "0.5,2", "--target-wait", "2m", "--output", "json").json()
    assert (plan["capacity"]["queue"], plan["capacity"]["ready"], plan["target_wait"]) == ("crawl", 60, 120.0)
    assert [each["hours"] for each in plan["workers_needed"]] == [0.5, 2.0]
    assert [each["name"] for each in plan["scenarios"]][:3] == ["as it is", "one worker less", "+50% load"]
    whole: Any = seeded("capacity", "--output", "json").json()
    assert {each["queue"] for each in whole["queues"]} == {"crawl", "mail"}


def test_where_no_job_has_ended_nobody_knows(seeded: Cli) -> None:
    said = seeded("capacity", "mail", "--output", "text").out
    assert "95 of 100 jobs start within 30s with 1 worker\n" in said
    assert "\nkind k in queue mail: no live worker serves it; its jobs wait" in said
    plan: Any = seeded("capacity", "mail", "--output", "json").json()
    assert [(each["kind"], each["reason"], each["jobs"]) for each in plan["unclaimed"]] == [("k", "unserved", 1)]
    assert said.endswith("no job has ended in the last hour, so nobody knows how long one takes\n")


def test_a_queue_that_nobody_knows_is_refused_with_the_nearest_name(seeded: Cli) -> None:
    said = seeded("capacity", "crwal")
    assert (said.code, said.out) == (3, "")
    assert "nothing is known of a queue crwal; did you mean crawl?" in said.err


@pytest.mark.parametrize("text", ["", "50%", "+50", "much", "-100%", "+1e3%"])
def test_what_is_no_change_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_percent(text)


@pytest.mark.parametrize("text", ["", "1,", "a", "-1", "1h"])
def test_what_are_no_hours_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="are no hours"):
        parse_hours(text)


def test_hours_and_changes_are_read() -> None:
    assert parse_hours("1,4.5") == [1.0, 4.5]
    assert (parse_percent("+50%"), parse_percent("-12.5%")) == (0.5, -0.125)
