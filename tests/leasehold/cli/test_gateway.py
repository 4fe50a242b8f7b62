from __future__ import annotations

from leasehold.cli.services import Services
from leasehold.settings import Settings
from tests.leasehold.cli.conftest import Cli


class Recording(Services):
    """Keeps what would have been served."""

    def __init__(self) -> None:
        self.settings = Settings()

    def run_gateway(self, settings: Settings) -> int:
        self.settings = settings
        return 0


def test_flags_become_settings(cli: Cli, database_url: str) -> None:
    services = Recording()
    assert cli("gateway", "--host", "::1", "--port", "9000", services=services).code == 0
    assert services.settings == Settings(database_url=database_url, gateway_host="::1", gateway_port=9000)


def test_another_address_than_loopback_needs_a_token(cli: Cli) -> None:
    done = cli("gateway", "--host", "0.0.0.0")
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert "token" in done.err


def test_a_database_without_a_schema_is_refused_before_anything_is_served(
    run_cli: Cli, empty_database_url: str
) -> None:
    services = Recording()
    assert run_cli("gateway", "--database-url", empty_database_url, services=services).code == 6
    assert services.settings == Settings()
