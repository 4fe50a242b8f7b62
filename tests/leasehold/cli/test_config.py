from __future__ import annotations

from typing import cast

from tests.leasehold.cli.conftest import Cli


def test_values_are_shown_with_their_origin_and_secrets_masked(run_cli: Cli) -> None:
    environ = {"DATABASE_URL": "postgresql://ada:secret@host/db", "LEASEHOLD_GATEWAY_TOKEN": "hush"}
    lines = run_cli("config", "show", "--output", "text", "--log-level", "debug", environ=environ).out.splitlines()
    assert lines[0].split() == ["setting", "value", "from"]
    assert lines[1].split() == ["database_url", "postgresql://ada:***@host/db", "environment", "DATABASE_URL"]
    assert "log_level debug flag --log-level" in [" ".join(line.split()) for line in lines]
    assert not [line for line in lines if "hush" in line or "secret" in line]


def test_programs_get_the_variable_that_sets_each_value(run_cli: Cli) -> None:
    shown = cast("list[dict[str, str]]", run_cli("config", "show").json())
    assert {"name": "slots", "value": "3", "origin": "default", "variable": "LEASEHOLD_SLOTS"} in shown
