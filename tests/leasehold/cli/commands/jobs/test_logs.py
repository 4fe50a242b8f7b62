from __future__ import annotations

import threading
from typing import Any

from tests.leasehold.cli.conftest import Cli, Psql, Sql

CLAIM = "select from leasehold.claim_jobs('00000000-0000-0000-0000-000000000001', 'pod-1', batch => 1);"
LOG = """
select leasehold.write_job_logs('{1,1,1}', '{1,1,2}',
    array['2030-01-02 10:00:00.1234Z', '2030-01-02 10:00:01Z', '2030-01-02 10:00:02Z']::timestamptz[],
    '{info,error,warning}', array['begun', E'broke\\n  in two', 'again\x1b[31m']);
"""
PROGRESS = """
select from leasehold.report_progress('00000000-0000-0000-0000-000000000001', '{1}', '{1}', '{0.4}', '{parsing}');
"""
COMPLETE = """
select from leasehold.complete_jobs('00000000-0000-0000-0000-000000000001', '{1}', '{1}', array[null]::jsonb[], '{1}');
"""
LINES = [
    "10:00:00.123 #1 info     begun",
    "10:00:01.000 #1 error    broke",
    "      in two",
    r"10:00:02.000 #2 warning  again\x1b[31m",
]


def shown_progress(cli: Cli) -> dict[str, Any] | None:
    return cli("jobs", "show", "1", "--output", "json").json()["progress"]


def test_lines_are_shown_oldest_first_with_their_attempt(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('crawl')")
    none = cli("jobs", "logs", "1", "--output", "text")
    assert (none.code, none.err) == (0, "none\n")
    sql(LOG)
    assert cli("jobs", "logs", "1", "--output", "text").out.splitlines() == LINES
    found = cli("jobs", "logs", "1", "--attempt", "2", "--output", "json").json()
    assert [(line["attempt"], line["level"], line["message"]) for line in found] == [(2, "warning", "again\x1b[31m")]


def test_following_goes_on_until_the_job_has_ended(cli: Cli, psql: Psql, database_url: str, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('crawl')")
    psql(database_url, CLAIM)
    ending = threading.Thread(target=psql, args=(database_url, LOG + COMPLETE))
    ending.start()
    done = cli("jobs", "logs", "1", "--follow", "--output", "text")
    ending.join()
    assert (done.code, done.out.splitlines()) == (0, LINES)
    assert len(cli("jobs", "logs", "1", "--follow", "--output", "json").out.splitlines()) == 3


def test_progress_is_shown_with_the_job(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('crawl')")
    assert shown_progress(cli) is None
    sql(CLAIM + PROGRESS)
    assert "████████░░░░░░░░░░░░  40 %  parsing  (" in cli("jobs", "show", "1", "--output", "text").out
    found = shown_progress(cli)
    assert found is not None
    assert (found["attempt"], found["fraction"], found["message"]) == (1, 0.4, "parsing")
