from __future__ import annotations

from tests.leasehold.cli.conftest import Cli, Psql


def test_cancelling_reports_each_id_as_changed_or_skipped_with_the_reason(cli: Cli) -> None:
    cli("enqueue", "echo")
    cli("enqueue", "echo")
    done = cli("jobs", "cancel", "1", "99", "2", "1", "--output", "text")
    assert done.code == 3
    assert done.steady == "\n".join(
        [
            "job  result   state    why",
            "1    changed  pending",
            "99   skipped  -        there is no job 99",
            "2    changed  pending",
            "1    skipped  -        job 1 is cancelled and cannot be cancelled",
        ]
    )


def test_the_reason_of_a_cancel_is_kept(cli: Cli, psql: Psql, database_url: str) -> None:
    cli("enqueue", "echo")
    assert cli("jobs", "cancel", "1", "--reason", "wrong shop").code == 0
    assert psql(database_url, "select error ->> 'message' from leasehold.finished_jobs") == "wrong shop"


def test_retrying_brings_a_cancelled_job_back(cli: Cli) -> None:
    cli("enqueue", "echo")
    cli("jobs", "cancel", "1")
    assert cli("jobs", "retry", "1").json() == [{"job_id": 1, "changed": True, "state": "pending", "reason": None}]


def test_a_job_whose_state_forbids_it_is_a_conflict(cli: Cli) -> None:
    cli("enqueue", "echo")
    done = cli("jobs", "retry", "1")
    assert done.code == 4
    assert done.json() == [
        {"job_id": 1, "changed": False, "state": None, "reason": "job 1 is pending and needs no retry"}
    ]
