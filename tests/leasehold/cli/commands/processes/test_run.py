from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from leasehold.app import App
from leasehold.cli.runtime.services import Services
from leasehold.settings import Settings
from tests.conftest import Psql
from tests.leasehold.cli.conftest import Cli

NEWER = "insert into leasehold.schema_migrations (version, name, checksum, breaking) values (9999, 'x', 'x', true)"


class Recording(Services):
    """Keeps what would have run."""

    def __init__(self, exit_code: int = 0) -> None:
        self._exit_code = exit_code
        self.names: tuple[str, ...] = ()
        self.settings = Settings()
        self.app: App | None = None
        self.waits = False
        self.stays = False

    async def run_actors(
        self,
        names: Sequence[str],
        settings: Settings,
        app: App | None,
        begin: Callable[[], Awaitable[object]] | None = None,
        *,
        stays: bool = False,
    ) -> int:
        self.names, self.settings, self.app, self.waits = tuple(names), settings, app, begin is not None
        self.stays = stays
        return self._exit_code


def test_a_process_whose_end_would_end_others_stays(cli: Cli) -> None:
    services = Recording()
    assert cli("run", "worker", services=services).code == 0
    assert not services.stays
    assert cli("run", "worker", services=services, environ={"HONCHO_PROCESS_NAME": "worker.1"}).code == 0
    assert services.stays


def test_flags_become_settings(cli: Cli, database_url: str) -> None:
    services = Recording()
    tokens = [
        "--queues",
        "crawl,parse",
        "--slots",
        "8",
        "--worker-id",
        "pod-1",
        "--lease-seconds",
        "9",
        "--notify",
        "off",
    ]
    assert cli("run", "worker", "reaper", *tokens, services=services).code == 0
    assert services.names == ("worker", "reaper")
    assert services.settings == Settings(
        database_url=database_url,
        queues=("crawl", "parse"),
        slots=8,
        worker_id="pod-1",
        lease_seconds=9,
        renew_seconds=3,
        notify=False,
    )


def test_the_exit_code_of_the_actors_is_that_of_the_command(cli: Cli) -> None:
    done = cli("run", "scheduler", services=Recording(1))
    assert (done.code, done.out) == (1, "")


def test_the_app_is_loaded_from_the_current_folder(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "shop_run.py").write_text("from leasehold import App\napp = App()\n")
    services = Recording()
    assert cli("run", "worker", "--app", "shop_run:app", services=services).code == 0
    assert isinstance(services.app, App)


def test_an_app_that_is_not_there_is_wrong_usage(cli: Cli) -> None:
    done = cli("run", "worker", "--app", "shop_nowhere:app", services=Recording())
    assert done.code == 2
    assert done.err.startswith("error: app shop_nowhere:app: there is no module shop_nowhere in ")


def test_a_module_that_ends_the_program_as_it_is_imported_ends_the_worker_with_the_code_of_a_wrong_setting(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "shop_ends.py").write_text("import sys\nsys.exit(0)\n")
    done = cli("run", "worker", "--app", "shop_ends:app", services=Recording())
    assert done.code == 2
    assert "module shop_ends" in done.err
    assert "SystemExit(0) while it is imported" in done.err


def test_a_schema_that_is_not_there_is_waited_for_unless_somebody_wants_to_know_at_once(
    run_cli: Cli, empty_database_url: str
) -> None:
    services = Recording()
    assert run_cli("run", "worker", "--database-url", empty_database_url, services=services).code == 0
    assert services.waits
    services = Recording()
    done = run_cli("run", "worker", "--fail-fast", "--database-url", empty_database_url, services=services)
    assert (done.code, services.names) == (6, ())
    assert "leasehold migrate" in done.err


def test_the_schema_is_made_on_request(run_cli: Cli, empty_database_url: str) -> None:
    for words in ("schema migrated to version", ""):
        services = Recording()
        done = run_cli("run", "worker", "--migrate", "--database-url", empty_database_url, services=services)
        assert (done.code, services.waits) == (0, False)
        assert done.err.startswith(words)
        assert bool(words) == bool(done.err)


def test_a_schema_that_is_too_new_is_refused_before_anything_runs(
    run_cli: Cli, fresh_database_url: str, psql: Psql
) -> None:
    psql(fresh_database_url, NEWER)
    services = Recording()
    done = run_cli("run", "worker", "--database-url", fresh_database_url, services=services)
    assert (done.code, services.names) == (6, ())
    assert "install a newer leasehold" in done.err


NOWHERE = ("--database-url", "postgresql://nobody@127.0.0.1:1/none")


def test_a_database_that_cannot_be_reached_is_waited_for_unless_somebody_wants_to_know_at_once(run_cli: Cli) -> None:
    services = Recording()
    assert run_cli("run", "worker", *NOWHERE, services=services).code == 0
    assert services.waits
    services = Recording()
    assert run_cli("run", "worker", "--migrate", *NOWHERE, services=services).code == 0
    assert services.waits
    services = Recording()
    assert run_cli("run", "worker", "--fail-fast", *NOWHERE, services=services).code == 5
    assert services.names == ()
