from __future__ import annotations

from tests.leasehold.cli.conftest import Cli, Psql


def test_a_dry_run_tells_and_changes_nothing(run_cli: Cli, empty_database_url: str, psql: Psql) -> None:
    done = run_cli("migrate", "--dry-run", "--output", "text", "--database-url", empty_database_url)
    assert done.code == 0
    assert done.out.startswith("would bring the schema from version 0 to version ")
    assert "  migration 0001_leasehold\n" in done.out
    assert psql(empty_database_url, "select to_regnamespace('leasehold') is null") == "t"


def test_what_it_did_is_a_few_lines_with_numbers_and_the_second_time_nothing(
    run_cli: Cli, empty_database_url: str, psql: Psql
) -> None:
    place = ("--database-url", empty_database_url)
    would = run_cli("migrate", "--dry-run", "--output", "json", *place).json()
    assert would["migrations"][0] == "0001_leasehold"
    assert would["functions"] > 200
    done = run_cli("migrate", *place).out
    assert f"  functions {would['functions']}\n" in done
    assert max(map(len, done.splitlines())) <= 80
    assert run_cli("migrate", "--output", "text", *place).out.endswith("nothing to do\n")
    psql(empty_database_url, "drop function leasehold.wake_idle_workers")
    again = run_cli("migrate", "--output", "json", *place).json()
    assert (again["migrations"], again["functions"]) == ([], 1)
    psql(empty_database_url, "drop function leasehold.wake_idle_workers")
    assert "  functions 1\n" in run_cli("migrate", *place).out
    assert run_cli("status", *place).code == 0


def test_the_emitted_script_makes_the_schema(run_cli: Cli, empty_database_url: str, psql: Psql) -> None:
    emitted = run_cli("migrate", "--emit")
    assert emitted.err == ""
    psql(empty_database_url, emitted.out)
    assert run_cli("migrate", "--output", "text", "--database-url", empty_database_url).out.endswith("nothing to do\n")


def test_what_makes_no_sense_is_refused(run_cli: Cli, empty_database_url: str) -> None:
    for tokens in (["--emit", "--dry-run"], ["--emit", "--to", "1"], ["--to", "9999"], ["--to", "-1"]):
        assert run_cli("migrate", *tokens, "--database-url", empty_database_url).code == 2
