from __future__ import annotations

import re

from tests.leasehold.cli.conftest import Cli, Sql

WORKER = """
select leasehold.register_worker('00000000-0000-0000-0000-000000000001', 'pod-1', 'host-1', 77, '0.1.0', '{crawl}', '{}', 3, true)
"""


# Every session that begins from now on sees this time.
AT = """
do $$begin execute format('alter database %I set leasehold.frozen_clock = %L', current_database(), '2030-01-01 {}Z'); end$$;
"""


def test_an_empty_database_has_no_jobs_and_no_workers_and_programs_get_the_counts_as_they_are(
    cli: Cli, sql: Sql
) -> None:
    assert cli("status", "--output", "text").out == "no jobs\n\nno workers: leasehold run worker\n"
    sql("select leasehold.enqueue_job('echo')")
    pending = {"queue": "default", "state": "pending", "jobs": 1}
    assert cli("status", "--output", "json").json() == {"queues": [pending], "paused": [], "workers": []}


def test_queues_are_shown_by_state_with_the_reason_of_a_pause_and_the_workers(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo', queue => queue) from unnest('{crawl,crawl,parse}'::text[]) queue")
    sql("select leasehold.enqueue_job('echo', queue => 'parse', run_at => leasehold.clock() + '1h')")
    cli("queues", "pause", "idle", "--reason", "not needed")
    sql(WORKER)
    sql(AT.format("12:00:00") + "update leasehold.workers set heartbeat_at = '2030-01-01 11:59:40Z'")
    assert cli("status", "--output", "text").steady == "\n".join(
        [
            "queue  pending  scheduled  waiting  blocked  claimed  running  completed  failed  cancelled",
            "crawl        2          ·        ·        ·        ·        ·          ·       ·          ·",
            "parse        1          1        ·        ·        ·        ·          ·       ·          ·",
            "all          3          1        ·        ·        ·        ·          ·       ·          ·",
            "",
            "paused queue  since   reason",
            "idle          1d ago  not needed",
            "",
            "worker  state  slots  queues  process    heartbeat",
            "pod-1   ready    0/3  crawl   host-1:77  20s ago",
        ]
    )


def test_a_worker_that_has_missed_two_heartbeats_is_shown_as_stale(cli: Cli, sql: Sql) -> None:
    sql(
        WORKER + ";update leasehold.workers set heartbeat_seconds = 30, heartbeat_at = '2030-01-01 12:00:00Z'",
    )
    shown: list[str] = []
    for at in ("12:01:15", "12:01:16", "12:05:00"):
        sql(AT.format(at))
        shown.append(cli("status", "--output", "text").out.splitlines()[-1])
    assert [re.split("  +", line)[1] for line in shown] == ["ready", "stale", "stale"]
    slow = cli("status", "--output", "text", environ={"LEASEHOLD_HEARTBEAT_SECONDS": "200"})
    assert "silent" not in slow.out


def test_a_worker_that_backs_off_is_shown_with_its_reason(cli: Cli, sql: Sql) -> None:
    sql(WORKER + ";update leasehold.workers set backoff = 'CPU 97 % of 2 CPUs (limit 90 %)'")
    shown = cli("status", "--output", "text").out.splitlines()[-1]
    assert re.split("  +", shown)[1:3] == ["backing off: CPU 97 % of 2 CPUs (limit 90 %)", "0/3"]
    assert '"backoff": "CPU 97 % of 2 CPUs (limit 90 %)"' in cli("status", "--output", "json").out
    sql("update leasehold.workers set state = 'paused'")
    assert re.split("  +", cli("status", "--output", "text").out.splitlines()[-1])[1] == "paused"


def test_the_age_of_counts_is_told_where_tables_are_too_large_to_be_counted(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo', queue => 'crawl')")
    big = (
        "do $$begin execute format('alter database %I set leasehold.small_table = %L', current_database(), -1); end$$;"
    )
    sql(big + AT.format("12:00:00"))
    sql("select leasehold.measure_depths()")
    lines = cli("status", "--output", "text").steady.splitlines()
    assert lines[1].split()[:2] == ["crawl", "1"]
    assert lines[2].startswith("large tables were counted ")


def test_pending_jobs_that_came_after_the_count_of_a_large_table_are_not_left_out(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo', queue => 'crawl')")
    sql("do $$begin execute format('alter database %I set leasehold.small_table = %L', current_database(), -1); end$$;")
    sql("select leasehold.measure_depths()")
    sql("insert into leasehold.jobs (kind, queue) select 'echo', 'new' from generate_series(1, 1001)")
    shown = [re.split("  +", line.strip())[:2] for line in cli("status", "--output", "text").out.splitlines()]
    assert shown[1:4] == [["crawl", "1"], ["new", "1,000 or more"], ["all", "1,001 or more"]]
    counts = cli("status", "--output", "json").json()["queues"]
    assert {each["queue"]: each.get("is_partial", False) for each in counts} == {"crawl": False, "new": True}
    listed = cli("queues", "list", "--output", "text").out.splitlines()
    assert [re.split("  +", line.strip())[:2] for line in listed[1:3]] == [["crawl", "1"], ["new", "1,000 or more"]]
    assert listed[3].startswith("large tables were counted ")
    capacity = [re.split("  +", line.strip())[:3] for line in cli("capacity", "--output", "text").out.splitlines()]
    assert capacity[1:3] == [["crawl", "1", "1"], ["new", "1,000 or more", "1,000 or more"]]
    assert "1,000 or more, of which ready 1,000 or more\n" in cli("capacity", "new", "--output", "text").out
    queues = cli("queues", "list", "--output", "json").json()
    assert {each["queue"]: each["is_partial"] for each in queues} == {"crawl": False, "new": True}
    assert all(each["counted_at"] for each in queues)
