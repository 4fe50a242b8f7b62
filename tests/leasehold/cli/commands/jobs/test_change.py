from __future__ import annotations

from tests.leasehold.cli.conftest import Cli, Sql


def test_cancelling_reports_each_id_as_changed_or_skipped_with_the_reason(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo'); select leasehold.enqueue_job('echo')")
    done = cli("jobs", "cancel", "1", "99", "2", "1", "--output", "text")
    assert done.code == 3
    assert done.steady == "\n".join(
        [
            "job  result   was        now        why",
            "1    changed  pending    cancelled",
            "99   skipped  -          -          there is no job 99",
            "2    changed  pending    cancelled",
            "1    skipped  cancelled  cancelled  job 1 is cancelled and cannot be cancelled",
        ]
    )


def test_the_reason_of_a_cancel_is_kept(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo')")
    assert cli("jobs", "cancel", "1", "--reason", "wrong shop").code == 0
    assert sql("select error ->> 'message' from leasehold.finished_jobs") == "wrong shop"


def test_cancelling_and_retrying_tell_the_state_before_and_after_by_the_same_names(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo')")
    changed = {"job_id": 1, "changed": True, "reason": None}
    assert cli("jobs", "cancel", "1", "--output", "json").json() == [{**changed, "was": "pending", "now": "cancelled"}]
    assert cli("jobs", "retry", "1", "--output", "json").json() == [{**changed, "was": "cancelled", "now": "pending"}]


def test_the_usage_line_names_the_arguments_that_the_help_explains(run_cli: Cli) -> None:
    usage, _, rest = run_cli("jobs", "cancel", "--help").out.partition("\n")
    assert usage == "Usage: leasehold jobs cancel [OPTIONS] [JOB_ID] [MORE...]"
    assert " JOB_ID  Id of a job." in rest
    assert " MORE    More ids." in rest


def test_a_job_whose_state_forbids_it_is_a_conflict(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo')")
    done = cli("jobs", "retry", "1", "--output", "json")
    assert done.code == 4
    assert done.json() == [
        {
            "job_id": 1,
            "changed": False,
            "was": "pending",
            "now": "pending",
            "reason": "job 1 is pending and needs no retry",
        }
    ]
