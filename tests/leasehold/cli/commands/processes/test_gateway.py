from __future__ import annotations

from collections.abc import Callable

import pytest

from leasehold.app import App
from leasehold.cli.runtime.services import Services
from leasehold.settings import Settings
from tests.conftest import Psql
from tests.leasehold.cli.commands.processes.test_run import NEWER
from tests.leasehold.cli.conftest import Cli


class Recording(Services):
    """Keeps what would have been served."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.app: App | None = None

    def run_gateway(
        self, settings: Settings, app: App | None = None, must_stop: Callable[[], bool] = bool, *, waits: bool = True
    ) -> int:
        self.settings = settings
        self.app = app
        return 0


def test_flags_become_settings(cli: Cli, database_url: str) -> None:
    services = Recording()
    assert cli("gateway", "--host", "::1", "--port", "9000", services=services).code == 0
    assert services.settings == Settings(database_url=database_url, gateway_host="::1", gateway_port=9000)


def test_only_with_the_flag_jobs_are_checked_against_an_app(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    services = Recording()
    monkeypatch.setenv("LEASEHOLD_APP", "leasehold.app.registry:builtin_app")  # for the workers
    assert cli("gateway", services=services).code == 0
    assert services.app is None
    assert cli("gateway", "--app", "tests.support.working:no_app", services=services).code == 2
    assert cli("gateway", "--app", "tests.support.process_app:app", services=services).code == 0
    assert isinstance(services.app, App)


def test_another_address_than_loopback_needs_a_token(cli: Cli) -> None:
    done = cli("gateway", "--host", "0.0.0.0", "--port", "0")
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert "token" in done.err


def test_somebody_who_wants_to_know_at_once_learns_that_there_is_no_schema(
    run_cli: Cli, empty_database_url: str
) -> None:
    done = run_cli("gateway", "--fail-fast", "--database-url", empty_database_url, "--port", "0")
    assert done.code == 6
    assert done.err == "error: the database has no leasehold schema yet: run `leasehold migrate`\n"


def test_a_schema_that_is_too_new_is_refused_before_anything_is_served(
    run_cli: Cli, fresh_database_url: str, psql: Psql
) -> None:
    psql(fresh_database_url, NEWER)
    done = run_cli("gateway", "--database-url", fresh_database_url, "--port", "0")
    assert done.code == 6
    assert "is too new for this code: install a newer leasehold" in done.err


def test_somebody_who_wants_to_know_at_once_learns_that_the_database_cannot_be_reached(run_cli: Cli) -> None:
    nowhere = ("--database-url", "postgresql://nobody@127.0.0.1:1/none", "--port", "0")
    assert run_cli("gateway", "--fail-fast", *nowhere).code == 5


def test_the_schema_is_made_on_request_before_anything_is_served(
    run_cli: Cli, empty_database_url: str, psql: Psql
) -> None:
    services = Recording()
    done = run_cli("gateway", "--migrate", "--database-url", empty_database_url, services=services)
    assert (done.code, services.settings.database_url) == (0, empty_database_url)
    assert done.err.startswith("schema migrated to version")
    assert psql(empty_database_url, "select count(*) from leasehold.jobs").strip() == "0"


def test_nor_is_it_waited_for_where_somebody_wants_to_know_at_once(run_cli: Cli) -> None:
    nowhere = ("--database-url", "postgresql://nobody@127.0.0.1:1/none", "--port", "0")
    services = Recording()
    assert run_cli("gateway", "--migrate", "--fail-fast", *nowhere, services=services).code == 5
    assert services.settings == Settings()
