from __future__ import annotations

import pytest

from tests.conftest import Psql
from tests.leasehold.cli.conftest import Cli

HAS = "select to_regclass('crawler.worker_tasks') is not null"


@pytest.fixture
def fresh(run_cli: Cli, fresh_database_url: str) -> Cli:
    def call(*tokens: str) -> object:
        return run_cli(*tokens, environ={"LEASEHOLD_DATABASE_URL": fresh_database_url})

    return call  # pyright: ignore[reportReturnType]


def test_it_is_installed_into_a_schema_and_removed(fresh: Cli, fresh_database_url: str, psql: Psql) -> None:
    psql(fresh_database_url, "create schema crawler")
    for _ in range(2):
        installed = fresh("compat", "install", "--schema", "crawler", "--output", "json")
        assert (installed.code, installed.json()) == (0, {"schema": "crawler", "installed": True})
    assert psql(fresh_database_url, HAS).strip() == "t"
    removed = fresh("compat", "uninstall", "--schema", "crawler", "--output", "text")
    assert (removed.code, "are gone, where they were ours; schema crawler" in removed.out) == (0, True)
    assert psql(fresh_database_url, HAS).strip() == "f"


def test_a_dry_run_prints_what_psql_can_run(run_cli: Cli, fresh_database_url: str, psql: Psql) -> None:
    printed = run_cli("compat", "install", "--dry-run")
    assert (printed.code, printed.err) == (0, "")
    psql(fresh_database_url, printed.out)
    assert psql(fresh_database_url, "select count(*) from worker_tasks").strip() == "0"
    psql(fresh_database_url, run_cli("compat", "uninstall", "--dry-run").out)


def test_a_table_of_somebody_else_s_and_a_missing_schema_are_refused(
    fresh: Cli, fresh_database_url: str, psql: Psql
) -> None:
    psql(fresh_database_url, "create table worker_tasks (id serial)")
    refused = fresh("compat", "install")
    assert (refused.code, "has worker_tasks already, and not from us" in refused.err) == (4, True), refused
    assert "leasehold import" in refused.err
    missing = fresh("compat", "install", "--schema", "nosuch")
    assert (missing.code, "there is no schema nosuch" in missing.err) == (2, True), missing
