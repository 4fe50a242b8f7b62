from __future__ import annotations

from tests.leasehold.cli.conftest import Cli, Psql

CLAIM = "select from leasehold.claim_jobs('00000000-0000-0000-0000-000000000001', 'pod-1', lease => '{}')"
LONG_AGO = "set leasehold.frozen_clock = '2020-01-01 00:00:00+00';"


def test_jobs_with_an_expired_lease_are_taken_back(cli: Cli, psql: Psql, database_url: str) -> None:
    psql(database_url, LONG_AGO + "select leasehold.enqueue_job('echo');" + CLAIM.format("1 minute"))
    assert cli("reap", "--output", "text").out == "took back 1 job\n"
    assert cli("reap").json() == {"reaped": 0}
    assert psql(database_url, "select state from leasehold.jobs") == "pending"


def test_jobs_that_nobody_renewed_for_so_long_are_taken_back_whatever_their_lease(
    cli: Cli, psql: Psql, database_url: str
) -> None:
    psql(database_url, LONG_AGO + "select leasehold.enqueue_job('echo');" + CLAIM.format("20 years"))
    assert cli("reap").json() == {"reaped": 0}
    assert cli("reap", "--minutes", "10").json() == {"reaped": 1}


def test_minutes_must_be_more_than_none(cli: Cli) -> None:
    done = cli("reap", "--minutes", "0")
    assert (done.code, done.err) == (2, "error: minutes must be more than 0, not 0\n")
