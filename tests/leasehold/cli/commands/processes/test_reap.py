from __future__ import annotations

from tests.leasehold.cli.conftest import Cli, Sql

CLAIM = "select from leasehold.claim_jobs('00000000-0000-0000-0000-000000000001', 'pod-1', lease => '{}')"
LONG_AGO = "set leasehold.frozen_clock = '2020-01-01 00:00:00+00';"


def test_jobs_with_an_expired_lease_are_taken_back(cli: Cli, sql: Sql) -> None:
    sql(LONG_AGO + "select leasehold.enqueue_job('echo');" + CLAIM.format("1 minute"))
    assert cli("reap", "--output", "text").out == "took back 1 job\n"
    assert cli("reap", "--output", "json").json() == {"reaped": 0, "held": []}
    assert sql("select state from leasehold.jobs") == "pending"


def test_jobs_that_nobody_renewed_for_so_long_are_taken_back_whatever_their_lease(cli: Cli, sql: Sql) -> None:
    sql(LONG_AGO + "select leasehold.enqueue_job('echo');" + CLAIM.format("20 years"))
    assert cli("reap", "--output", "json").json() == {"reaped": 0, "held": []}
    assert cli("reap", "--minutes", "10", "--output", "json").json() == {"reaped": 1, "held": []}


def test_minutes_out_of_range_are_refused_with_the_range(cli: Cli) -> None:
    cases: list[tuple[str, str]] = [
        ("nan", "NaN"),
        ("1e300", "1" + "0" * 15),
    ]
    for minutes, named in cases:
        done = cli("reap", "--minutes", minutes)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"error: minutes must be more than 0 and at most 52596000 (100 years), not {named}")
        assert len(done.err) < 150
