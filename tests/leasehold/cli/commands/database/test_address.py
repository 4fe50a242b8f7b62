from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from leasehold.cli.commands.database import find_psql, without_password
from leasehold.cli.runtime.loading import run_foreign
from leasehold.database.embedded import find_programs
from tests.leasehold.cli.conftest import Cli
from tests.support.processes import StartProcess
from tests.support.waiting import PATIENCE


def test_the_address_is_printed_alone_for_other_programs(cli: Cli, database_url: str) -> None:
    assert (cli("dsn").out, cli("dsn").err) == (f"{database_url}\n", "")
    assert cli("dsn", terminal=True).out == f"{database_url}\n"
    assert cli("dsn", "--output", "json").json() == {"dsn": database_url}


@pytest.mark.parametrize(
    ("dsn", "place", "password"),
    [
        ("postgresql://ada:b%40c@db:5432/shop", "postgresql://ada@db:5432/shop", "b@c"),
        (
            "postgresql://db/shop?user=ada&password=x%20y&sslmode=require",
            "postgresql://db/shop?user=ada&sslmode=require",
            "x y",
        ),
        ("postgresql://ada@/shop?host=/var/run/a%20b", "postgresql://ada@/shop?host=/var/run/a%20b", None),
        ("postgresql://a,b:5433/shop", "postgresql://a,b:5433/shop", None),
        ("", "", None),
    ],
)
def test_no_password_stands_in_the_list_of_processes(dsn: str, place: str, password: str | None) -> None:
    assert without_password(dsn) == (place, password)


def test_psql_runs_on_the_database_with_what_it_is_given(start_process: StartProcess, database_url: str) -> None:
    environ = {"LEASEHOLD_DATABASE_URL": database_url}
    asked = start_process(["psql", "-Atc", "select count(*) from leasehold.all_jobs"], environ)
    assert (asked.wait(), asked.stdout) == (0, "0")
    variable = start_process(["psql", "--", "-v", "ON_ERROR_STOP=1", "-Atc", "select 1/0"], environ)
    assert (variable.wait(), variable.stderr) == (1, "ERROR:  division by zero")


def test_where_no_psql_is_installed_there_is_that_of_the_embedded_postgres(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert find_psql("psql") == str(find_programs() / "psql")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_psql_and_then_the_command(number: signal.Signals) -> None:
    inner = "import signal; print('ready', flush=True); signal.pause()"
    name = run_foreign.__module__
    outer = (
        f"import sys; from {name} import run_foreign; sys.exit(run_foreign([sys.executable, '-c', {inner!r}], {{}}))"
    )
    with subprocess.Popen([sys.executable, "-c", outer], stdout=subprocess.PIPE, cwd=Path.cwd()) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)  # is for psql, which the terminal tells by itself
        process.send_signal(number)
        assert process.wait(PATIENCE) == 128 + number
