from __future__ import annotations

from typing import Any

import pytest

from tests.leasehold.cli.conftest import Cli, Transcript

STORES = (
    "select 'store-' || n as key, n as store, jsonb_build_object('state_code', s) as metadata"
    " from (values (1, 'AZ'), (2, 'CA'), (3, 'AZ')) v(n, s)"
)
ENQUEUE = ("schedules", "enqueue", "all")


def jobs(done: Transcript) -> list[dict[str, Any]]:
    assert done.code == 0, done.err
    return done.json()


@pytest.fixture
def stores(cli: Cli) -> Cli:
    done = cli("schedules", "create", "all", "echo", "--every", "4h", "--query", STORES)
    assert done.code == 0, done.err
    return cli


def test_rows_of_a_state_get_jobs_and_a_dry_run_makes_none(stores: Cli) -> None:
    of_state = (*ENQUEUE, "--metadata", '{"state_code": "AZ"}')
    assert [(each["key"], each["job_id"]) for each in jobs(stores(*of_state, "--dry-run", "--output", "json"))] == [
        ("store-1", None),
        ("store-3", None),
    ]
    assert [each["job_id"] for each in jobs(stores(*of_state, "--priority", "3", "--output", "json"))] == [1, 2]
    again = stores(*of_state, "--once", "--key", "store-3", "--output", "text")
    assert [line.split() for line in again.out.splitlines()] == [["key", "job"], ["store-3", "3", "created"]]
    assert jobs(stores(*of_state, "--once", "--output", "json"))[1]["is_new"] is False


def test_what_fits_no_row_is_told(stores: Cli) -> None:
    none = stores(*ENQUEUE, "--key", "store-9", "--output", "text")
    assert (none.code, none.out) == (0, "")
    wrong = stores(*ENQUEUE, "--metadata", '{"state": "AZ"}')
    assert (wrong.code, "jsonb_build_object('state', …) as metadata" in wrong.err) == (2, True)
