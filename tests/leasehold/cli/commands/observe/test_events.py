from __future__ import annotations

import re

from tests.leasehold.cli.conftest import Cli, Sql

CLAIM = "select from leasehold.claim_jobs('00000000-0000-0000-0000-000000000001', 'pod-1', batch => 1);"
FAIL = """
select from leasehold.fail_jobs('00000000-0000-0000-0000-000000000001', '{1}', '{1}',
    array['{"type": "ValueError", "message": "boom\\u001b[31m", "traceback": ""}']::jsonb[], retry_in => '{0}');
"""
COMPLETE = """
select from leasehold.complete_jobs('00000000-0000-0000-0000-000000000001', '{1}', '{2}', array[null]::jsonb[], '{1}');
"""


def live(sql: Sql) -> None:
    """A job that fails once and then completes, and one that is cancelled."""
    sql("select leasehold.enqueue_job('crawl', queue => 'shops')")
    sql(CLAIM + FAIL)
    sql(CLAIM + COMPLETE)
    sql("select leasehold.enqueue_job('parse')")
    sql("select leasehold.cancel_job(2, 'enough')")


def steady(text: str) -> list[str]:
    return [re.sub(r"^\d\d:\d\d:\d\d\.\d{3}", "<time>", line) for line in text.splitlines()]


def test_what_happened_is_shown_in_its_order_as_text_as_json_and_by_filter(cli: Cli, sql: Sql) -> None:
    live(sql)
    done = cli("events", "--output", "text")
    assert done.code == 0
    assert steady(done.out) == [
        r"<time> job_retried     job 1 #1 crawl@shops on pod-1  ValueError: boom\x1b[31m",
        "<time> job_completed   job 1 #2 crawl@shops on pod-1",
        "<time> job_cancelled   job 2 parse@default  enough",
    ]

    assert len(cli("events", "--output", "jsonl").out.splitlines()) == 3
    found = cli("events", "--output", "json").json()
    assert [(each["event"], each["job_id"]) for each in found] == [
        ("job_retried", 1),
        ("job_completed", 1),
        ("job_cancelled", 2),
    ]
    for words, count in [
        (("--queue", "shops"), 2),
        (("--kind", "parse"), 1),
        (("--event", "job_completed", "--event", "job_retried"), 2),
        (("--job", "2"), 1),
        (("--chain", "1"), 2),
        (("--queue", "other"), 0),
        (("--since", "-5m"), 3),
        (("--since=-5m",), 3),
    ]:
        assert len(cli("events", *words, "--output", "json").json()) == count, words


def test_nothing_to_show_is_said_and_a_span_that_is_none_refused(cli: Cli) -> None:
    done = cli("events", "--output", "text")
    assert (done.code, done.out, done.err) == (0, "", "none\n")
    refused = cli("events", "--since", "yesterday")
    assert (refused.code, "'yesterday' is no duration" in refused.err) == (2, True)
    assert "'--queue' is no duration" in cli("events", "--since", "--queue").err


def test_events_that_there_are_none_of_are_refused(run_cli: Cli) -> None:
    done = run_cli("events", "--event", "job_compleeted")
    assert done.code == 2
    assert done.err == "error: there is no event 'job_compleeted'; did you mean job_completed?\n"
    done = run_cli("events", "--event", "zzz")
    assert done.code == 2
    assert "there are job_audited, job_blocked, " in done.err
