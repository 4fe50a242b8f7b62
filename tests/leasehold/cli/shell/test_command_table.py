from __future__ import annotations

import subprocess
import sys

import pytest

from leasehold.cli.runtime.outcome import Finally, view_of
from leasehold.cli.shell.command_table import MODULES, choose_commands, load_command
from tests.leasehold.cli.conftest import Cli
from tests.support.waiting import PATIENCE

JOBS = {name for name in MODULES if name.startswith("jobs ")}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("status --output json", {"status"}),
        ("--output json status", {"status"}),
        ("jobs list --state failed", {"jobs list"}),
        ("jobs", JOBS),
        ("jobs --help", JOBS),
        ("jobs --verbose list", JOBS),
        ("jobs lst", JOBS),
        ("enqueue list", {"enqueue"}),
        ("--config up enqueue jobs", {"up", "enqueue", *JOBS}),
    ],
)
def test_only_what_the_words_may_mean_is_loaded(words: str, expected: set[str]) -> None:
    assert choose_commands(words.split()) == expected


@pytest.mark.parametrize("words", ["", "--help", "statsu", "--version"])
def test_where_no_command_is_named_there_are_all(words: str) -> None:
    assert choose_commands(words.split()) == set(MODULES)


@pytest.mark.parametrize("words", ["statsu", "statsu jobs", "statsu run --slots 3"])
def test_a_word_that_is_no_command_is_compared_with_all(run_cli: Cli, words: str) -> None:
    done = run_cli(*words.split())
    assert done.code == 2
    assert 'Did you mean "status"' in done.err


def test_the_value_of_an_option_may_be_called_like_a_command(run_cli: Cli) -> None:
    assert run_cli("--config", "jobs", "status", "--help").out == run_cli("status", "--help").out


def test_each_command_that_returns_a_result_names_its_view() -> None:
    for name in MODULES:
        command = load_command(name)
        returns_a_result = command.__annotations__["return"] not in {type(None), int, Finally}
        assert (view_of(command) is not view_of(print)) == returns_a_result


def test_the_launcher_imports_no_command() -> None:
    code = "import sys, leasehold.cli.shell.launcher; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    rooms = tuple(f"leasehold.cli.{room}." for room in ("commands", "checks", "top", "up"))
    assert [name for name in done.stdout.split() if name.startswith(rooms)] == []
