from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.leasehold.cli.conftest import Cli, Sql


def record(done: Any) -> dict[str, Any]:
    return done.json()


def test_a_chain_is_completed_with_an_output_or_with_a_next_job(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('approve')")
    open_chain = record(cli("chains", "complete", "1", "--next", "ship", "--args", '{"order": 7}', "--output", "json"))
    assert (open_chain["state"], open_chain["job_id"], open_chain["job_kind"]) == ("open", 2, "ship")
    assert record(cli("jobs", "show", "2", "--output", "json"))["job"]["args"] == {"order": 7}
    done = record(cli("chains", "complete", "1", '"shipped"', "--output", "json"))
    assert (done["state"], done["output"], done["jobs"]) == ("completed", "shipped", 2)


def test_what_is_no_json_is_refused_with_advice_and_a_chain_that_has_ended_is_a_conflict(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('approve')")
    done = cli("chains", "complete", "1", "yes")
    assert (done.code, "text needs its quotes" in done.err) == (2, True)
    assert cli("chains", "complete", "1", "--next", "ship", "--args", "[1]").code == 2
    assert record(cli("chains", "cancel", "1", "--reason", "no", "--output", "json"))["state"] == "cancelled"
    for command in ("complete", "cancel"):
        done = cli("chains", command, "1")
        assert done.code == 4
        assert f"chain 1 is cancelled and cannot be {command.removesuffix('e')}" in done.err


def test_a_chain_is_deleted_unless_somebody_waits_for_it(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.enqueue_job('part')")
    sql("""select from leasehold.enqueue_jobs('[{"kind": "whole", "blockers": [1]}]')""")
    refused = cli("chains", "delete", "1")
    assert refused.code == 4
    assert "chain 1 cannot be deleted: job 2 (whole) waits for it" in refused.err
    assert cli("chains", "delete", "2", "--cascade", "--output", "text").steady == "deleted 2 chains: 1, 2"
    assert cli("jobs", "list", "--output", "json").json() == []


def test_scheduled_jobs_are_triggered_all_or_none(cli: Cli, sql: Sql) -> None:
    sql(
        "select leasehold.enqueue_job('echo', run_at => leasehold.clock() + '1h'); select leasehold.enqueue_job('echo')"
    )
    refused = cli("jobs", "trigger", "1", "2")
    assert refused.code == 4
    assert "job 2 is pending; only scheduled jobs can be triggered (none was triggered)" in refused.err
    assert cli("jobs", "trigger", "1", "--output", "json").json() == [
        {"job_id": 1, "changed": True, "was": "scheduled", "now": "pending", "reason": None}
    ]


def test_all_scheduled_jobs_that_match_are_triggered(cli: Cli) -> None:
    for delay in ("1h", "40d"):
        cli("enqueue", "echo", "--delay", delay)
    assert cli("jobs", "trigger").code == 2
    assert "add --dry-run" in cli("jobs", "trigger", "--kind", "echo").err
    would = cli("jobs", "trigger", "--kind", "echo", "--dry-run", "--output", "text")
    assert (would.out.count("changed  scheduled  pending"), "2 would be triggered" in would.err) == (2, True)
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    done = cli("jobs", "trigger", "--before", tomorrow, "--yes", "--output", "text")
    assert done.out.splitlines()[1:] == ["1    echo  default  changed  scheduled  pending"]
