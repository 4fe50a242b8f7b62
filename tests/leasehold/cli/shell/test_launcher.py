from __future__ import annotations

import subprocess
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from leasehold.cli.runtime.services import Services
from leasehold.database import Database
from leasehold.errors import DatabaseUnavailable
from tests.leasehold.cli.conftest import Cli
from tests.support.waiting import PATIENCE


class Failing(Services):
    """Opening the database fails in the way that the test chooses."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def open_database(
        self, dsn: str, direct_dsn: str | None = None, timeout: float | None = None
    ) -> AbstractAsyncContextManager[Database]:
        raise self._error


WITH_DATABASE = {"LEASEHOLD_DATABASE_URL": "postgresql://ada:secret@nowhere/db"}


CASES: list[tuple[list[str], str]] = [
    (["enqueu"], 'unknown command "enqueu". Did you mean "enqueue"?'),
    (["nonsense", "--help"], 'unknown command "nonsense".'),
    (["jobs", "sho"], 'unknown command "sho". Did you mean "show"?'),
    (["status", "--outptu", "json"], "unknown option: --outptu. Did you mean --output?"),
    (["status", "--output", "xml"], 'invalid value "xml" for --output.'),
    (["jobs", "show", "x"], "invalid value for JOB_ID"),
    (["help"], 'unknown command "help". Did you mean "--help"?'),
    (["version"], 'unknown command "version". Did you mean "--version"?'),
    (["dsn", "x", "y"], "too many arguments: x y\n"),
    (["enqueue", "echo", "--priority", "1e3"], 'unable to convert "1e3" into int.\n'),
    (["jobs", "show"], "requires an argument"),
    (["enqueue", "echo", "--key", "-a7"], "--key requires an argument. If -a7 is its value, write --key=-a7.\n"),
    (["enqueue", "echo", "--key", "--queue", "q"], "--key requires an argument.\n"),
    (["jobs", "show", "99999999999999999999"], "for JOB_ID. Must be <= 9223372036854775807."),
    (["jobs", "cancel", "1", "99999999999999999999"], "for MORE. Must be <= 9223372036854775807."),
    (["jobs", "retry", "0"], "for JOB_ID. Must be >= 1."),
    (["jobs", "list", "--before", "99999999999999999999"], "for --before. Must be <= 9223372036854775807."),
    (["jobs", "list", "--limit", "1001"], "for --limit. Must be <= 1000."),
    (["enqueue", "echo", "--priority", "99999999999"], "for --priority. Must be <= 2147483647."),
    (["run", "wroker"], 'invalid value "wroker" for ACTOR.'),
    (["run"], "requires an argument"),
    (["status", "--log-level", "loud"], "log_level = 'loud' (from flag --log-level) is refused"),
    (["status", "--config", "/no/such.toml"], "cannot read the settings file /no/such.toml"),
    (["run", "worker", "--slots", "0"], "slots = '0' (from flag --slots) is refused"),
]


def test_wrong_usage_is_one_line_on_standard_error(run_cli: Cli) -> None:
    for tokens, complaint in CASES:
        done = run_cli(*tokens)
        assert done.code == 2
        assert done.out == ""
        assert done.err.startswith("error: ")
        assert complaint in done.err
        assert len(done.err.splitlines()) == 1


def test_an_unknown_environment_variable_is_refused_with_a_suggestion(run_cli: Cli) -> None:
    done = run_cli("status", environ={"LEASEHOLD_SLOT": "3"})
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: unknown setting LEASEHOLD_SLOT in the environment; did you mean LEASEHOLD_SLOTS?\n"


def test_common_options_may_stand_before_the_command(run_cli: Cli) -> None:
    assert run_cli("--output", "jsonl", "config", "show").out == run_cli("config", "show", "--output", "jsonl").out


def test_an_error_in_a_nursery_is_told_as_what_it_is(run_cli: Cli) -> None:
    group = BaseExceptionGroup("wrapped", [ValueError("noise"), ExceptionGroup("", [DatabaseUnavailable("gone")])])
    done = run_cli("status", environ=WITH_DATABASE, services=Failing(group))
    assert (done.code, done.err) == (5, "error: gone\n")


def test_an_unforeseen_error_is_one_line_and_tells_how_to_see_more(run_cli: Cli) -> None:
    error = ValueError("first\nsecond postgresql://ada:secret@nowhere/db \x1b[2J")
    done = run_cli("status", environ=WITH_DATABASE, services=Failing(error))
    assert done.code == 1
    assert done.err == (
        "error: ValueError: first second postgresql://ada:***@nowhere/db \\x1b[2J (--log-level debug shows where)\n"
    )


def test_debugging_shows_the_traceback(run_cli: Cli) -> None:
    done = run_cli("status", "--log-level", "debug", environ=WITH_DATABASE, services=Failing(ValueError("odd")))
    assert "Traceback (most recent call last)" in done.err
    assert done.err.endswith("error: ValueError: odd\n")
    assert "secret" not in done.err


def test_an_interrupt_ends_with_the_code_of_the_shell(run_cli: Cli) -> None:
    group = BaseExceptionGroup("wrapped", [KeyboardInterrupt()])
    assert run_cli("status", environ=WITH_DATABASE, services=Failing(group)).code == 130


def test_a_database_that_does_not_answer_is_told_with_its_own_code(run_cli: Cli, tmp_path: Path) -> None:
    done = run_cli("status", "--database-url", f"postgresql://ada@/db?host={tmp_path}")
    assert done.code == 5
    assert done.err.startswith("error: the database cannot be reached")
    assert len(done.err.splitlines()) == 1


def test_a_database_that_does_not_exist_counts_as_unreachable(run_cli: Cli, database_url: str) -> None:
    done = run_cli("status", "--database-url", database_url.replace("/leasehold_", "/no_leasehold_"))
    assert done.code == 5
    assert "does not exist" in done.err


def test_a_database_without_our_schema_is_told_with_what_to_do(run_cli: Cli, empty_database_url: str) -> None:
    done = run_cli("status", "--database-url", empty_database_url)
    assert done.code == 6
    assert done.err == "error: the database has no leasehold schema yet: run `leasehold migrate`\n"


def test_without_the_extra_it_says_how_to_install_it() -> None:
    script = "import sys; sys.modules['cyclopts'] = None; from leasehold.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 2
    assert done.stderr == "error: the command line is not installed; run: pip install 'leasehold[cli]'\n"
