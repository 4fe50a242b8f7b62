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


def test_cancelling_and_retrying_tell_the_state_before_and_after_by_the_same_names(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('echo')")
    changed = {"job_id": 1, "changed": True, "reason": None}
    done = cli("jobs", "cancel", "1", "--reason", "wrong shop", "--output", "json")
    assert done.json() == [{**changed, "was": "pending", "now": "cancelled"}]
    assert sql("select error ->> 'message' from leasehold.finished_jobs") == "wrong shop"
    assert cli("jobs", "retry", "1", "--output", "json").json() == [{**changed, "was": "cancelled", "now": "pending"}]
    again = cli("jobs", "retry", "1", "--output", "json")  # its state forbids it
    unchanged = {"changed": False, "was": "pending", "now": "pending", "reason": "job 1 is pending and needs no retry"}
    assert (again.code, again.json()) == (4, [{"job_id": 1, **unchanged}])


def test_the_usage_line_names_the_arguments_that_the_help_explains(run_cli: Cli) -> None:
    usage, _, rest = run_cli("jobs", "cancel", "--help").out.partition("\n")
    assert usage == "Usage: leasehold jobs cancel [OPTIONS] [JOB_ID] [MORE...]"
    assert " JOB_ID  Id of a job." in rest
    assert " MORE    More ids." in rest
