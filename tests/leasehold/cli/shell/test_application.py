from __future__ import annotations

import dataclasses
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

from leasehold.cli.runtime.options import CommonOptions
from leasehold.cli.shell.application import split_example
from leasehold.cli.shell.command_table import MODULES, load_command
from tests.leasehold.cli.conftest import Cli
from tests.support.waiting import PATIENCE

NAMES = list(MODULES)
WORDS = {int: "INT", float: "FLOAT"}


def numeric_flags(function: Any) -> Iterator[tuple[str, str]]:
    """Flag and word of each parameter that is a number, in the groups of flags that a command takes, too."""
    hints = get_type_hints(function)
    for name, hint in hints.items():
        if hint is not CommonOptions and dataclasses.is_dataclass(hint):
            yield from numeric_flags(hint)
        for kind, word in WORDS.items():
            if kind in (hint, *get_args(hint)) and is_flag(function, name):
                yield "--" + name.replace("_", "-"), word


def is_flag(function: Any, name: str) -> bool:
    parameter = inspect.signature(function).parameters.get(name)
    return parameter is not None and (
        dataclasses.is_dataclass(function) or parameter.kind is inspect.Parameter.KEYWORD_ONLY
    )


def test_the_help_of_every_command_shows_an_example_of_it_and_which_number_a_flag_takes(run_cli: Cli) -> None:
    numeric = 0
    for name in NAMES:
        help_text = run_cli(*name.split(), "--help")
        assert help_text.code == 0
        assert help_text.err == ""
        _, _, example = help_text.out.partition("Example:\n")
        assert f"leasehold {name}" in example
        for flag, word in numeric_flags(load_command(name)):
            assert re.search(rf"{flag}( -\w)? {word}\b", help_text.out), (flag, word)
            numeric += 1
    assert numeric > 20


def test_the_first_line_of_every_command_is_one_short_sentence() -> None:
    for name in NAMES:
        text, example = split_example(load_command(name))
        assert text.split("\n", maxsplit=1)[0].endswith(".")
        assert len(text.split("\n", maxsplit=1)[0]) < 80
        assert example


def test_the_general_help_names_every_command_and_the_exit_codes(run_cli: Cli) -> None:
    text = run_cli("--help").out
    assert all(name.split()[0] in text for name in NAMES)
    assert "7  doctor or audit found something" in text


def test_without_a_command_the_help_is_shown(run_cli: Cli) -> None:
    assert run_cli().out == run_cli("--help").out


def test_the_version_is_the_installed_one(run_cli: Cli) -> None:
    assert run_cli("--version").out.strip() == "0.1.0"


def test_flags_name_the_environment_variable_that_does_the_same(run_cli: Cli) -> None:
    text = " ".join(run_cli("run", "--help").out.split())
    assert "[LEASEHOLD_SLOTS]" in text
    assert "[LEASEHOLD_DATABASE_URL]" in text


def test_help_loads_no_part_that_only_a_command_needs() -> None:
    script = "import sys; from leasehold.cli.shell.launcher import run; run(['status', '--help'])\n"
    script += "heavy = {f'leasehold.{name}' for name in ('actors', 'gateway', 'migrations', 'embedded')}\n"
    script += "sys.exit(' '.join((heavy | {'aiohttp'}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.stderr.strip() == ""
    assert "Example:" in done.stdout
