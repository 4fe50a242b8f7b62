"""Which database a command uses, and what it says about it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from leasehold.cli.runtime.services import Services
from leasehold.cli.shell.command_table import MODULES
from leasehold.database.embedded import EmbeddedPostgres, embedded_postgres
from leasehold.observability.logs import redact_dsn
from tests.leasehold.cli.conftest import Cli
from tests.support.folders import short_folder

# Commands that work without a database, make one, or answer in their own words.
OTHERS = {"up", "demo", "migrate", "config show", "doctor", "mcp", "kinds sync"}
ARGUMENTS = {
    "enqueue": ["echo"],
    "run": ["worker"],
    "queues pause": ["mail"],
    "queues resume": ["mail"],
    "queues age": ["mail"],
    "queues limit": ["mail", "--max-running", "1"],
    "queues unlimit": ["mail"],
    **{f"jobs {name}": ["1"] for name in ("show", "why", "logs", "errors", "edit", "cancel", "retry", "trigger")},
    "schedules create": ["nightly", "echo", "--cron", "@daily"],
    "schedules update": ["nightly", "--priority", "1"],
    **{
        f"schedules {name}": ["nightly"]
        for name in ("show", "preview", "enable", "disable", "trigger", "generate", "delete")
    },
    "workers scale": ["w1", "2"],
    "workers cancel-job": ["w1", "1"],
    **{f"workers {name}": ["w1"] for name in ("show", "stacks", "decommission", "pause", "resume")},
    **{f"payloads {name}": ["1"] for name in ("show", "get", "diff")},
    **{f"egress {name}": ["home"] for name in ("add", "retire")},
    **{f"kinds {name}": ["charge"] for name in ("show", "drop")},
    "schedules enqueue": ["nightly"],
    "egress test": ["home", "http://127.0.0.1:9"],
    "import define": ["procrastinate"],
    "import run": ["--yes"],
    "tokens create": ["ops", "--scope", "read"],
    "tokens rotate": ["ops"],
    "tokens revoke": ["ops"],
    **{f"chains {name}": ["1"] for name in ("show", "wait", "complete", "cancel", "delete")},
}
NAMES = [name for name in MODULES if name not in OTHERS]


class Hasty(Services):
    """Makes databases without waiting for the disk."""

    def embedded_postgres(
        self, folder: Path | None, *, create: bool, hurries: Callable[[], bool]
    ) -> AbstractContextManager[EmbeddedPostgres]:
        return embedded_postgres(folder, create=create, sync=False, hurries=hurries)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """The current folder, empty."""
    monkeypatch.delenv("LEASEHOLD_DATA_FOLDER", raising=False)
    with short_folder() as made:
        monkeypatch.chdir(made)
        yield made


def test_where_there_is_no_database_a_command_says_how_to_get_one_and_makes_none(run_cli: Cli, folder: Path) -> None:
    for name in NAMES:
        done = run_cli(*name.split(), *ARGUMENTS.get(name, []))
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            f"error: no database: none is configured and there is no embedded one in {folder}/.leasehold/postgres; start one "
            "with `leasehold up`, or name yours with --database-url or LEASEHOLD_DATABASE_URL\n"
        )
        assert list(folder.iterdir()) == []


def test_a_dry_run_makes_no_database(run_cli: Cli, folder: Path) -> None:
    assert run_cli("migrate", "--dry-run").code == 2
    assert list(folder.iterdir()) == []


def test_a_new_embedded_database_is_told_about_once(run_cli: Cli, folder: Path) -> None:
    line = f"embedded Postgres 18 keeps its data in {folder}/.leasehold/postgres (look inside: "
    made = run_cli("migrate", services=Hasty())
    assert made.err.startswith(line)
    assert run_cli("enqueue", "echo", "--data-folder", ".leasehold").err == ""
    assert run_cli("status", "--verbose").err == made.err
    assert line in run_cli("doctor").out


def test_who_wants_to_know_is_told_which_configured_database_is_used(cli: Cli, database_url: str) -> None:
    assert cli("wake").err == ""
    assert cli("wake", "-v").err == f"the database is {redact_dsn(database_url)}\n"
