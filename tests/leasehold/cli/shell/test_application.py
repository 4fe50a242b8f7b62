from __future__ import annotations

import subprocess
import sys

from leasehold.cli.shell.application import split_example
from leasehold.cli.shell.command_table import MODULES, load_command
from tests.leasehold.cli.conftest import Cli
from tests.support.waiting import PATIENCE

NAMES = list(MODULES)


def test_the_help_of_every_command_shows_an_example_of_it(run_cli: Cli) -> None:
    for name in NAMES:
        help_text = run_cli(*name.split(), "--help")
        assert help_text.code == 0
        assert help_text.err == ""
        _, _, example = help_text.out.partition("Example:\n")
        assert f"leasehold {name}" in example


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
