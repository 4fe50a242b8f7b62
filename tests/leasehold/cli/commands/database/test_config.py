from __future__ import annotations

from pathlib import Path

import pytest

from tests.leasehold.cli.conftest import Cli, Transcript


def test_values_are_shown_with_their_origin_and_secrets_masked(run_cli: Cli) -> None:
    environ = {"DATABASE_URL": "postgresql://ada:secret@host/db", "LEASEHOLD_GATEWAY_TOKEN": "hush"}
    lines = run_cli("config", "show", "--output", "text", "--log-level", "debug", environ=environ).out.splitlines()
    assert lines[0].split() == ["setting", "value", "from"]
    assert lines[1].split() == ["database_url", "postgresql://ada:***@host/db", "environment", "DATABASE_URL"]
    assert "log_level debug flag --log-level" in [" ".join(line.split()) for line in lines]
    assert not [line for line in lines if "hush" in line or "secret" in line]


def shown(done: Transcript, name: str) -> dict[str, str]:
    [found] = [each for each in done.json() if each["name"] == name]
    return found


def test_the_data_folder_is_shown_as_it_is_found(run_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    default = shown(run_cli("config", "show", "--output", "json"), "data_folder")
    assert (default["value"], default["origin"]) == (str(tmp_path / ".leasehold" / "postgres"), "default")
    named = shown(run_cli("config", "show", "--data-folder", "here", "--output", "json"), "data_folder")
    assert (named["value"], named["origin"]) == (str(tmp_path / "here"), "flag --data-folder")
    assert list(tmp_path.iterdir()) == []


def test_beside_a_configured_database_the_data_folder_is_not_used(run_cli: Cli) -> None:
    done = run_cli("config", "show", "--output", "json", environ={"DATABASE_URL": "postgresql://ada@host/db"})
    assert shown(done, "data_folder")["value"] == "(not used)"


def test_programs_get_the_variable_that_sets_each_value(run_cli: Cli) -> None:
    slots = shown(run_cli("config", "show", "--output", "json"), "slots")
    assert slots == {"name": "slots", "value": "-", "origin": "default", "variable": "LEASEHOLD_SLOTS"}
