from __future__ import annotations

from typing import Any, cast

import pytest

from tests.leasehold.cli.conftest import Cli, Psql


def test_a_dry_run_tells_and_changes_nothing(run_cli: Cli, empty_database_url: str, psql: Psql) -> None:
    done = run_cli("migrate", "--dry-run", "--output", "text", "--database-url", empty_database_url)
    assert done.code == 0
    assert done.out.startswith("would bring the schema from version 0 to version ")
    assert "  migration 0001_leasehold\n" in done.out
    assert psql(empty_database_url, "select to_regnamespace('leasehold') is null") == "t"


def test_migrating_twice_does_nothing_the_second_time(run_cli: Cli, empty_database_url: str) -> None:
    first = run_cli("migrate", "--database-url", empty_database_url, "--output", "json")
    assert cast("dict[str, Any]", first.json())["migrations"][0] == "0001_leasehold"
    second = run_cli("migrate", "--output", "text", "--database-url", empty_database_url)
    assert second.out.endswith("nothing to do\n")
    assert run_cli("status", "--database-url", empty_database_url).code == 0


def test_what_it_did_is_a_few_lines_and_each_name_on_request(run_cli: Cli, empty_database_url: str) -> None:
    would = run_cli("migrate", "--dry-run", "--output", "json", "--database-url", empty_database_url).json()
    names = cast("dict[str, Any]", would)["functions"]
    done = run_cli("migrate", "--database-url", empty_database_url)
    assert f"  functions {len(names)}\n" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert "claim_jobs" in names
    assert "claim_jobs" not in done.out


def test_a_few_names_are_shown(run_cli: Cli, empty_database_url: str, psql: Psql) -> None:
    run_cli("migrate", "--database-url", empty_database_url)
    psql(empty_database_url, "drop function leasehold.wake_idle_workers")
    done = run_cli("migrate", "--database-url", empty_database_url)
    assert "  functions wake_idle_workers\n" in done.out


def test_the_emitted_script_makes_the_schema(run_cli: Cli, empty_database_url: str, psql: Psql) -> None:
    emitted = run_cli("migrate", "--emit")
    assert emitted.err == ""
    psql(empty_database_url, emitted.out)
    assert run_cli("migrate", "--output", "text", "--database-url", empty_database_url).out.endswith("nothing to do\n")


@pytest.mark.parametrize("tokens", [["--emit", "--dry-run"], ["--emit", "--to", "1"], ["--to", "9999"], ["--to", "-1"]])
def test_what_makes_no_sense_is_refused(run_cli: Cli, empty_database_url: str, tokens: list[str]) -> None:
    assert run_cli("migrate", *tokens, "--database-url", empty_database_url).code == 2
