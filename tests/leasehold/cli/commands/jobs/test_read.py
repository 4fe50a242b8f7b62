from __future__ import annotations

from typing import Any

from tests.leasehold.cli.conftest import Cli, Sql

CLAIM = """
select from leasehold.claim_jobs('00000000-0000-0000-0000-000000000001', 'pod-1', batch => 1);
"""
FAIL = """
select from leasehold.fail_jobs('00000000-0000-0000-0000-000000000001', '{1}', '{1}',
    array['{"type": "ValueError", "message": "no such shop", "traceback": "Traceback:\\n  line 1"}'::jsonb], discard => '{true}');
"""


def ids(done: Any) -> list[int]:
    return [job["id"] for job in done.json()]


def test_jobs_are_listed_newest_first(cli: Cli, sql: Sql) -> None:
    sql(
        "select leasehold.enqueue_job('echo'); select leasehold.enqueue_job('crawl', queue => 'crawl', key => 'shop-7')"
    )
    assert cli("jobs", "list", "--output", "text").steady == "\n".join(
        [
            "job  state    kind   queue    key     when",
            "  2  pending  crawl  crawl    shop-7  due 1d ago",
            "  1  pending  echo   default          due 1d ago",
        ]
    )


def test_pages_follow_each_other_by_the_last_id(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo') from generate_series(1, 5)")
    first = cli("jobs", "list", "--limit", "2", "--output", "json")
    assert (ids(first), first.err) == ([5, 4], "more: --before 4\n")
    last = cli("jobs", "list", "--limit", "4", "--before", "4", "--output", "json")
    assert (ids(last), last.err) == ([3, 2, 1], "")


FILTERS: list[tuple[list[str], list[int]]] = [
    (["--queue", "crawl"], [2]),
    (["--kind", "echo"], [3, 1]),
    (["--key", "shop-7"], [2]),
    (["--state", "scheduled"], [3]),
    (["--args", '{"page": 2}'], [2]),
    (["--metadata", '{"state_code": "AZ"}'], [2]),
]
THREE = """
select leasehold.enqueue_job('echo');
select leasehold.enqueue_job('crawl', '{"page": 2, "sort": "price"}', queue => 'crawl', key => 'shop-7',
                             metadata => '{"state_code": "AZ"}');
select leasehold.enqueue_job('echo', run_at => leasehold.clock() + '1h');
"""


def test_filters_choose_jobs(cli: Cli, sql: Sql) -> None:
    sql(THREE)
    found = [(flags, ids(cli("jobs", "list", *flags, "--output", "json"))) for flags, _ in FILTERS]
    assert found == FILTERS


def test_a_filter_that_says_nothing_and_a_page_too_large_are_refused(cli: Cli) -> None:
    done = cli("jobs", "list", "--metadata", "[1]")
    assert (done.code, "metadata must be a JSON object" in done.err) == (2, True)
    assert "there is no state 'lost'" in cli("jobs", "list", "--state", "lost").err
    assert cli("jobs", "list", "--limit", "1001").code == 2


def test_attempts_that_were_spared_are_told_apart_from_those_that_count(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('crawl')")
    sql("update leasehold.jobs set attempt = 904, spared_attempts = 901")
    assert "attempt   904; 3 of 20 count, 901 spared\n" in cli("jobs", "show", "1", "--output", "text").out
    assert " 3/20 " in cli("jobs", "list", "--output", "text").out


def test_a_job_is_shown_with_args_error_and_timeline(cli: Cli, sql: Sql) -> None:
    sql("""select leasehold.enqueue_job('crawl', '{"shop": 7}', key => 'shop-7', max_attempts => 1)""")
    sql(CLAIM + FAIL)
    facts, _, timeline = cli("jobs", "show", "1", "--output", "text").steady.partition("\nat ")
    assert facts == "\n".join(
        [
            "job       1",
            "state     failed  1d ago",
            "kind      crawl",
            "queue     default",
            "key       shop-7",
            "priority  0",
            "attempt   1 of 1",
            "worker    pod-1",
            "run at    <instant>",
            "",
            "args",
            "  {",
            '    "shop": 7',
            "  }",
            "",
            "error",
            "  ValueError: no such shop",
            "  Traceback:",
            "    line 1",
            "",
        ]
    )
    assert [" ".join(line.split()[3:]) for line in timeline.splitlines()[1:]] == [
        "created",
        "claimed 1 pod-1",
        "started 1 pod-1",
        "failed 1 pod-1: ValueError: no such shop",
    ]


def test_programs_get_the_job_and_its_timeline(cli: Cli, sql: Sql) -> None:
    sql("""select leasehold.enqueue_job('echo', '{"text": "hi"}')""")
    report = cli("jobs", "show", "1", "--output", "json").json()
    assert report["job"]["args"] == {"text": "hi"}
    assert [entry["event"] for entry in report["timeline"]] == ["created"]


def test_a_job_that_does_not_exist_has_its_own_exit_code(cli: Cli) -> None:
    for command in ("show", "why", "logs", "errors"):
        done = cli("jobs", command, "99")
        assert (done.code, done.out, done.err) == (3, "", "error: there is no job 99\n"), command
