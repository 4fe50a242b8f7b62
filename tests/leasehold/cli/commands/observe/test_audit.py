from __future__ import annotations

from pathlib import Path

from tests.leasehold.cli.conftest import Cli, Psql, Sql
from tests.support.saved import save

WORKER = """
select leasehold.register_worker('00000000-0000-0000-0000-000000000001', 'pod-1', 'host', 7, '0.1.0', '{}', '{}', 3, true)
"""
TWO_TAILS = "update leasehold.jobs set chain_id = 1, chain_position = 1 where id = 2"


def overdue(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.ensure_partitions()")
    sql("select leasehold.enqueue_job('echo', run_at => leasehold.clock() + '1h')")
    sql("update leasehold.jobs set run_at = '2020-01-01Z'")


def test_in_good_order_there_is_nothing_to_say(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.ensure_partitions()")
    sql("select leasehold.enqueue_job('echo')")
    done = cli("audit", "--output", "text")
    assert (done.code, done.out, done.err) == (0, "", "none\n")


def test_faults_are_listed_and_the_exit_code_says_so(cli: Cli, sql: Sql) -> None:
    overdue(cli, sql)
    done = cli("audit", "--output", "text")
    assert done.code == 7
    assert [" ".join(line.split()) for line in done.out.splitlines()] == [
        "finding subject explanation",
        "fault overdue job 1 it was due at 2020-01-01 00:00:00+00 and nobody has made it claimable",
    ]


def test_repair_repairs_and_the_second_time_there_is_nothing(cli: Cli, sql: Sql) -> None:
    overdue(cli, sql)
    done = cli("audit", "--repair", "--output", "text")
    assert done.code == 0
    assert done.out.splitlines()[1].startswith("repaired  overdue  job 1  ")
    [fault] = cli("audit", "--repair", "--output", "json").json()
    assert (fault["finding"], fault["subject"], fault["is_repaired"]) == ("unserved", "kind echo", False)
    sql(WORKER)
    assert cli("audit", "--repair", "--output", "json").json() == []
    report = cli("jobs", "show", "1", "--output", "json").json()
    assert [entry["event"] for entry in report["timeline"]] == ["created", "due", "audited"]


def test_what_people_have_to_decide_remains(cli: Cli, sql: Sql) -> None:
    overdue(cli, sql)
    sql("select leasehold.enqueue_job('echo')")
    sql(TWO_TAILS)
    done = cli("audit", "--repair", "--output", "json")
    faults = done.json()
    assert done.code == 7
    assert {each["finding"]: each["is_repaired"] for each in faults} == {"overdue": True, "two_tails": False}
    assert {each["job_id"] for each in faults} == {1, 2}


def test_grace(cli: Cli, sql: Sql) -> None:
    overdue(cli, sql)
    assert cli("audit", "--grace", "3000000000").code == 0
    assert [cli("audit", "--grace", seconds).code for seconds in ("-1", "1e12")] == [2, 2]


def test_a_payload_store_that_is_gone_is_a_fault_beside_the_others(
    cli: Cli, sql: Sql, psql: Psql, database_url: str, tmp_path: Path
) -> None:
    overdue(cli, sql)
    save(database_url, tmp_path / "volume", [1])
    (tmp_path / "volume").rename(tmp_path / "unmounted")
    done = cli("audit", "--repair", "--output", "json", environ={"LEASEHOLD_PAYLOADS_STORE": str(tmp_path / "volume")})
    assert done.code == 7
    found = {each["finding"]: each["is_repaired"] for each in done.json()}
    assert found == {"overdue": True, "store_unavailable": False}
    assert sql("select count(*) from leasehold.payloads") == "1"
