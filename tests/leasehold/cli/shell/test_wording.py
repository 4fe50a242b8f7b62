"""Errors name commands to whoever is at a command line, and functions to whoever is in psql."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from leasehold.cli.shell.command_table import MODULES
from leasehold.cli.shell.complaints import COMMANDS_FOR_FUNCTIONS, OTHER_NAMES, in_command_names
from tests.leasehold.cli.conftest import Cli

FUNCTIONS = Path(__file__).parents[4] / "sql" / "functions"
NAMES = re.compile(r"\b(" + "|".join(sorted({path.stem for path in FUNCTIONS.rglob("*.sql")})) + r")\b")
TOKEN = re.compile(r"--[^\n]*|'(?:[^']|'')*'|[^'-]+|-")
OVER = re.compile(r";|\b\w+ = ")
SAID = re.compile(r"\b(message|hint|detail) = ")


def spoken() -> set[str]:
    """What the functions say in errors: the texts of their `raise` statements."""
    return {text for path in FUNCTIONS.rglob("*.sql") for text in spoken_in(path.read_text())}


def spoken_in(source: str) -> set[str]:
    said: set[str] = set()
    is_said = False
    for token in TOKEN.findall(source):
        if token.startswith("'"):
            said |= {token[1:-1].replace("''", "'")} if is_said and " " in token else set()
        elif not token.startswith("--"):
            is_said = bool(SAID.search(token)) or (is_said and not OVER.search(token))
    return said


def functions_named(text: str) -> list[str]:
    return [name for name in NAMES.findall(text) if "_" in name]


def test_no_error_names_a_function_to_a_command_line() -> None:
    naming = {text: functions_named(in_command_names(text)) for text in spoken() if functions_named(text)}
    assert len(naming) >= len(COMMANDS_FOR_FUNCTIONS)
    assert {text: names for text, names in naming.items() if names} == {}


def test_every_entry_is_said_by_a_function_and_leads_to_commands_that_there_are() -> None:
    said = spoken()
    assert [words for words in COMMANDS_FOR_FUNCTIONS if not any(words in text for text in said)] == []
    for advice in COMMANDS_FOR_FUNCTIONS.values():
        for named in re.findall(r"`leasehold (.+?)`", advice):
            assert {" ".join(named.split()[:words]) for words in (1, 2)} & set(MODULES), advice


@pytest.mark.parametrize(
    ("tokens", "advice"),
    [
        (["schedules", "show", "nightly"], "`leasehold schedules list` names them"),
        (["workers", "show", "brave-otter"], "`leasehold workers list` shows those that there are"),
        (["queues", "limit", "mail"], "`leasehold queues unlimit` takes a limit away"),
    ],
)
def test_an_error_of_a_function_tells_which_command_helps(cli: Cli, tokens: list[str], advice: str) -> None:
    assert advice in cli(*tokens).err


def test_a_word_of_another_system_or_without_its_noun_leads_to_the_command(cli: Cli) -> None:
    cases: list[tuple[list[str], str]] = [
        (["worker", "--app", "shop:app"], '"run worker"'),
        (["beat"], '"run scheduler"'),
        (["retry", "5"], '"jobs retry"'),
        (["list"], '"jobs list" or "kinds list" or "chains list"'),
        (["jobs", "ls"], '"jobs list"'),
        (["shell"], '"psql"'),
    ]
    for tokens, meant in cases:
        said = cli(*tokens)
        assert said.code == 2
        assert f"Did you mean {meant}?" in said.err


def test_each_word_of_another_system_leads_to_a_command_that_there_is() -> None:
    for command in OTHER_NAMES.values():
        assert command in {*MODULES, "--help", "--version"} or command.partition(" ")[0] in MODULES
    assert not set(OTHER_NAMES) & set(MODULES)
