"""What the tools say while a session of Postgres holds the row of a job whose lease has run out, as a lost machine does."""

from __future__ import annotations

from collections.abc import Generator

import psycopg
import pytest

from tests.leasehold.cli.conftest import Cli, Psql, Sql

CLAIM = """
select leasehold.enqueue_job('echo');
select from leasehold.claim_jobs('00000000-0000-0000-0000-000000000001', 'pod-1');
update leasehold.jobs set lease_expires_at = now() - interval '1 hour';
"""


@pytest.fixture
def session(database_url: str, psql: Psql) -> Generator[str]:
    """The name of a session that holds job 1 in an open transaction."""
    psql(database_url, CLAIM)
    with psycopg.connect(database_url, application_name="lost machine") as connection:
        connection.execute("select from leasehold.jobs where id = 1 for no key update")
        yield f'session {connection.info.backend_pid} (application "lost machine", host '


def test_reap_says_why_it_takes_nothing_back(cli: Cli, session: str) -> None:
    first, second = cli("reap", "--output", "text").out.splitlines()
    assert first == "took back 0 jobs"
    assert f"cannot be taken back: {session}" in second
    assert "idle in transaction since" in second
    report = cli("reap", "--output", "json").json()
    assert (report["reaped"], len(report["held"])) == (0, 1)


def test_why_names_it_instead_of_a_reaper(cli: Cli, session: str) -> None:
    line = cli("jobs", "why", "1", "--output", "text").out.splitlines()[0]
    assert f"cannot be taken back: {session}" in line
    assert "round of a reaper" not in line
    report = cli("jobs", "why", "1", "--output", "json").json()
    assert report["reasons"][0]["facts"]["row_held_by"].startswith(session)


def test_audit_names_it_and_repairs_nothing(cli: Cli, session: str) -> None:
    done = cli("audit", "--repair", "--output", "json")
    [fault] = [each for each in done.json() if each["finding"] == "held_by_nobody"]
    assert (done.code, fault["is_repaired"]) == (7, False)
    assert session in fault["explanation"]


def test_doctor_names_it_and_blames_no_reaper(cli: Cli, sql: Sql, session: str) -> None:
    done = cli("doctor", "--output", "json")
    checks = {each["name"]: each for each in done.json()}
    assert checks["jobs"]["verdict"] == "problem"
    assert session in checks["jobs"]["detail"]
    assert "pg_terminate_backend" in checks["jobs"]["advice"]
    assert "no worker or reaper sees to it" not in checks["jobs"]["detail"]


def test_cancel_answers_soon_and_names_it(cli: Cli, session: str) -> None:
    done = cli("jobs", "cancel", "1", "--output", "json")
    [change] = done.json()
    assert (done.code, change["changed"], change["now"]) == (4, False, "claimed")
    assert change["reason"].startswith(f"job 1 cannot be cancelled now: {session}")


def test_a_bulk_cancel_skips_it_and_names_it(cli: Cli, session: str) -> None:
    done = cli("jobs", "cancel", "--kind", "echo", "--yes", "--output", "json")
    [change] = done.json()
    assert not change["changed"]
    assert change["reason"].startswith(session)
