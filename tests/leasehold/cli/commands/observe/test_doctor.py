from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from leasehold.checks import connection, schema, work
from leasehold.observability.logs import redact_dsn
from tests.leasehold.cli.conftest import Cli, Psql, Sql
from tests.support.waiting import PATIENCE


@pytest.fixture
def database_url(fresh_database_url: str) -> str:
    """Tests here break the schema."""
    return fresh_database_url


@pytest.fixture(autouse=True)
def a_machine_that_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a claim lasts longer than on others and no notification is late yet."""
    monkeypatch.setattr(work, "SLOW_MILLISECONDS", PATIENCE * 1000)
    monkeypatch.setattr(work, "PATIENCE_SECONDS", PATIENCE)
    monkeypatch.setattr(connection, "PING_SECONDS", PATIENCE)


def verdicts(done: object) -> dict[str, str]:
    return {check["name"]: check["verdict"] for check in cast("list[dict[str, str]]", done)}


CHECKS = [
    "settings", "database", "pooler", "schema", "drift", "partitions", "jobs", "claims", "workers", "kinds",
    "upkeep", "epochs",
    "notify", "clock", "connections", "durability", "autovacuum", "locks", "horizon", "bloat",
]  # fmt: skip


def test_a_database_in_good_order_has_no_findings(run_cli: Cli, durable_database_url: str) -> None:
    done = run_cli("doctor", "--database-url", durable_database_url, "--output", "json")
    found = done.json()
    assert [check for check in found if check["verdict"] not in {"ok", "advice"}] == []
    assert done.code == 0
    assert [check["name"] for check in found] == CHECKS
    [where] = [check["detail"] for check in found if check["name"] == "database"]
    assert where.endswith(f"; the database is {redact_dsn(durable_database_url)}")


def test_without_a_database_it_says_so_and_makes_none(run_cli: Cli, tmp_path: Path) -> None:
    done = run_cli("doctor", "--data-folder", str(tmp_path / "none"), "--output", "json")
    assert (done.code, verdicts(done.json())) == (2, {"settings": "ok", "database": "problem"})
    assert "start one with `leasehold up`" in done.out
    assert list(tmp_path.iterdir()) == []


def test_people_get_one_line_per_check_and_the_advice_below(
    cli: Cli, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = f"date '{sql(schema.TODAY)}'"
    monkeypatch.setattr(schema, "TODAY", f"select {today} as today")  # also where midnight passes meanwhile
    drop = (
        "select format('drop table leasehold.%I;', c.relname) from pg_class c "
        rf"where c.relname ~ '_\d{{8}}$' and right(c.relname, 8) > to_char({today}, 'YYYYMMDD')"
    )
    sql(sql(drop))
    done = cli("doctor", "--output", "text")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert done.code == 7
    assert "ok settings 1 given, the rest are defaults" in lines
    assert "problem partitions made for 1 days from today on" in lines
    assert "→ is a reaper running? By hand: leasehold audit --repair" in lines


def test_without_a_schema_what_depends_on_it_is_skipped(run_cli: Cli, empty_database_url: str) -> None:
    done = run_cli("doctor", "--database-url", empty_database_url, "--output", "json")
    found = verdicts(done.json())
    assert (done.code, found["schema"], found["partitions"], found["notify"]) == (7, "problem", "skipped", "ok")


def test_a_database_that_does_not_answer_is_reported_with_its_own_code(run_cli: Cli, tmp_path: Path) -> None:
    done = run_cli("doctor", "--database-url", f"postgresql://ada@/db?host={tmp_path}", "--output", "json")
    assert (done.code, verdicts(done.json())) == (5, {"settings": "ok", "database": "problem"})


def test_overdue_jobs_are_counted_and_the_audit_named(cli: Cli, sql: Sql) -> None:
    sql("select leasehold.ensure_partitions()")
    sql("select leasehold.enqueue_job('echo', run_at => leasehold.clock() + '1h')")
    assert verdicts(cli("doctor", "--output", "json").json())["jobs"] == "ok"
    sql("update leasehold.jobs set run_at = now() - interval '2 minutes'")
    done = cli("doctor", "--output", "text")
    assert done.code == 7
    assert "1 overdue, and no worker or reaper sees to it" in done.out
    assert "look at `leasehold audit`" in done.out


def test_settings_that_are_unknown_or_contradict_each_other_are_told_before_anything_else(cli: Cli) -> None:
    unknown = cli("doctor", environ={"LEASEHOLD_SLOT": "3"})
    assert (unknown.code, "did you mean LEASEHOLD_SLOTS?" in unknown.err) == (2, True)
    late = cli("doctor", environ={"LEASEHOLD_LEASE_SECONDS": "10", "LEASEHOLD_RENEW_SECONDS": "9"})
    assert (late.code, "must be less than half of lease_seconds = 10" in late.err) == (2, True)


def test_what_a_role_may_not_see_is_left_out(run_cli: Cli, psql: Psql, database_url: str) -> None:
    name = psql(database_url, "select 'clerk_' || oid from pg_database where datname = current_database()")
    psql(database_url, f"create role {name} login")
    psql(database_url, f"grant usage on schema leasehold to {name}")
    psql(database_url, f"grant select on leasehold.schema_migrations, leasehold.schema_repeatables to {name}")
    done = run_cli("doctor", "--database-url", database_url.replace("postgres@", f"{name}@"), "--output", "json")
    found = verdicts(done.json())
    assert {found[name] for name in ("partitions", "jobs", "claims", "workers")} == {"skipped"}
    assert (found["horizon"], found["notify"]) == ("advice", "ok")
    psql(database_url, f"drop owned by {name}; drop role {name}")
