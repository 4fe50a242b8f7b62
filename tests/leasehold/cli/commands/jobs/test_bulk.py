from __future__ import annotations

from typing import Any

import pytest

from tests.leasehold.cli.conftest import Cli, Sql, Transcript

UNCHANGED = ["pending", "cancelled", "failed", "failed"]


def told(done: Transcript) -> Any:
    return done.json()


def states(cli: Cli) -> list[str]:
    """Newest first."""
    return [job["state"] for job in told(cli("jobs", "list", "--output", "json"))]


@pytest.fixture
def dead(cli: Cli, sql: Sql) -> Cli:
    """1 and 2 failed, 2 with a TimeoutError; 3 is cancelled, 4 pending in another queue."""
    sql(
        "do $$ declare w uuid := gen_random_uuid(); begin "
        "perform leasehold.enqueue_job(k) from unnest('{a,b,c}'::text[]) k; "
        "perform leasehold.enqueue_job('a', queue => 'slow'); "
        "perform leasehold.claim_jobs(w, 'w1', '{default}', '{a,b}', 2); "
        "perform leasehold.fail_jobs(w, '{1,2}', '{1,1}', array["
        '\'{"type": "ValueError", "message": "boom", "traceback": "Traceback\\n  line 3\\nValueError: boom"}\','
        '\'{"type": "TimeoutError", "message": "late"}\']::jsonb[], discard => \'{true,true}\'); '
        "perform leasehold.cancel_job(3); end $$",
    )
    return cli


def test_a_dry_run_shows_what_would_be_retried_and_changes_nothing(dead: Cli) -> None:
    done = dead("jobs", "retry", "--failed", "--dry-run", "--output", "text")
    assert (done.code, done.err) == (0, "2 would be retried\n")
    assert done.steady == "\n".join(
        [
            "job  kind  queue    result   was     now      why",
            "1    a     default  changed  failed  pending",
            "2    b     default  changed  failed  pending",
        ]
    )
    assert states(dead) == UNCHANGED


def test_all_that_match_are_retried_when_it_is_meant(dead: Cli) -> None:
    done = dead("jobs", "retry", "--error-type", "TimeoutError", "--yes", "--output", "json")
    assert done.err == "1 retried\n"
    assert done.json() == [
        {
            "job_id": 2,
            "kind": "b",
            "queue": "default",
            "changed": True,
            "was": "failed",
            "now": "pending",
            "reason": None,
        }
    ]
    assert states(dead) == ["pending", "cancelled", "pending", "failed"]


def test_cancelled_jobs_are_retried_where_they_are_named_and_none_is_no_error(dead: Cli) -> None:
    none = dead("jobs", "retry", "--kind", "nothing", "--yes", "--output", "json")
    assert (none.code, none.json(), none.err) == (0, [], "0 retried\n")
    assert [each["job_id"] for each in told(dead("jobs", "retry", "--cancelled", "--yes", "--output", "json"))] == [3]
    assert [
        each["job_id"]
        for each in told(dead("jobs", "retry", "--cancelled", "--failed", "--dry-run", "--output", "json"))
    ] == [1, 2]


def test_all_that_match_are_cancelled_when_it_is_meant(dead: Cli) -> None:
    would = dead("jobs", "cancel", "--queue", "slow", "--dry-run", "--output", "json")
    assert would.err == "1 would be cancelled\n"
    done = dead("jobs", "cancel", "--queue", "slow", "--yes", "--reason", "moved", "--output", "json")
    assert (done.err, done.json()) == ("1 cancelled\n", would.json())
    assert told(dead("jobs", "show", "4", "--output", "json"))["job"]["error"]["message"] == "moved"


def test_what_list_finds_is_what_the_flags_choose(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('a', jsonb_build_object('shop', n)) from unnest('{7,8}'::int[]) n")
    would = cli("jobs", "cancel", "--args", '{"shop": 8}', "--dry-run", "--output", "json")
    assert [each["job_id"] for each in told(would)] == [2]
    assert (
        cli("jobs", "cancel", "--worker", "nobody", "--metadata", '{"a": 1}', "--dry-run", "--output", "json").json()
        == []
    )
    cli("jobs", "cancel", "1", "2")
    old = cli("jobs", "retry", "--cancelled", "--created-before", "2020-01-01T00:00Z", "--dry-run", "--output", "json")
    new = cli(
        "jobs",
        "retry",
        "--cancelled",
        "--created-after",
        "2020-01-01T00:00Z",
        "--args",
        '{"shop": 7}',
        "--yes",
        "--output",
        "json",
    )
    assert (old.json(), [each["job_id"] for each in told(new)]) == ([], [1])


CASES: list[tuple[list[str], str]] = [
    ([], "give ids, or flags that choose jobs; --help lists them"),
    (["--dry-run"], "give ids, or flags that choose jobs; --help lists them"),
    (["--kind", "a"], "many jobs may match: add --dry-run to see which, or --yes to do it"),
    (["--kind", "a", "--dry-run", "--yes"], "many jobs may match: add --dry-run to see which, or --yes to do it"),
    (["1", "--error-type", "x", "--yes"], "--error-type, --yes: give either ids, or flags that choose jobs"),
    (["--after", "today", "--yes"], "'today' is no instant"),
    (["--kind", "a", "--before", "", "--yes"], "'' is no instant"),
    (["1", "--queue", ""], "--queue: give either ids, or flags that choose jobs"),
    (["--args", "{}", "--yes"], "every job has that"),
    (["--metadata", "[]", "--yes"], "must be a json object"),
    (["--kind", "a", "--limit", "0", "--yes"], "must be >= 1"),
]


def test_what_is_not_clear_changes_nothing(dead: Cli) -> None:
    both = [CASES[0], CASES[2], CASES[4], CASES[6]]  # what one command asks for itself; the flags are read alike
    commands = [*(("retry", *case) for case in CASES), *(("cancel", *case) for case in both)]
    for command, words, complaint in commands:
        done = dead("jobs", command, *words)
        assert done.code == 2
        assert complaint.lower() in done.err.lower()
    assert states(dead) == UNCHANGED


# Errors and edits.


def test_the_errors_of_every_attempt_are_shown(dead: Cli) -> None:
    done = dead("jobs", "errors", "1", "--output", "text")
    assert done.steady == "attempt 1, <instant> UTC, w1\nValueError: boom\n  Traceback\n    line 3".replace(
        " UTC", "", 1
    )
    assert [each["type"] for each in told(dead("jobs", "errors", "2", "--output", "json"))] == ["TimeoutError"]


def test_a_failed_job_is_edited_and_retried(dead: Cli) -> None:
    done = dead(
        "jobs", "edit", "1", "--args", '{"shop": 8}', "--priority", "3", "--reason", "wrong shop", "--output", "json"
    )
    assert done.json() == {"job_id": 1, "changed": True, "was": "failed", "now": "failed", "reason": None}
    dead("jobs", "retry", "1")
    job = told(dead("jobs", "show", "1", "--output", "json"))
    assert (job["job"]["args"], job["job"]["priority"]) == ({"shop": 8}, 3)
    assert "wrong shop" in [entry["message"] for entry in job["timeline"]]


def test_an_edit_says_on_a_terminal_what_it_did_and_one_that_cannot_be_is_refused(dead: Cli) -> None:
    shown = dead("jobs", "edit", "4", "--queue", "fast", "--output", "text")
    assert shown.steady == "job  result   was      now      why\n4    changed  pending  pending"
    cases: list[tuple[list[str], int, str]] = [
        (["4"], 2, "give at least one of args"),
        (["4", "--args", "[1]"], 2, "args must be a JSON object"),
        (["9", "--priority", "1"], 3, "there is no job 9"),
        (["1", "--run-at", "2030-01-01T00:00:00Z"], 4, "run_at says nothing until it is retried"),
    ]
    for words, code, complaint in cases:
        done = dead("jobs", "edit", *words)
        assert (done.code, complaint in done.err) == (code, True), done.err


def test_of_very_many_jobs_the_first_are_shown_and_programs_get_all(cli: Cli, sql: Sql) -> None:
    sql("insert into leasehold.jobs (kind, queue) select 'echo', 'crawl' from generate_series(1, 1002)")
    wanted = ("jobs", "cancel", "--queue", "crawl", "--dry-run", "--output")
    done = cli(*wanted, "text")
    lines = done.out.splitlines()
    assert done.err == "1002 would be cancelled\n"
    assert (len(lines), lines[-1]) == (1002, "and 2 more; --output jsonl has all")
    assert len(cli(*wanted, "jsonl").out.splitlines()) == 1002
