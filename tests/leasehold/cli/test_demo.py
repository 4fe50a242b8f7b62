from __future__ import annotations

from leasehold.cli.services import Services
from leasehold.settings import Settings
from tests.leasehold.cli.conftest import Cli, Psql


class Recording(Services):
    """Keeps what would have been demonstrated."""

    def __init__(self) -> None:
        self.settings = Settings()

    async def run_demo(self, settings: Settings) -> int:
        self.settings = settings
        return 1


def test_the_schema_is_made_and_the_exit_code_passed_on(run_cli: Cli, empty_database_url: str, psql: Psql) -> None:
    services = Recording()
    done = run_cli("demo", "--database-url", empty_database_url, services=services)
    assert done.code == 1
    assert done.err.startswith("schema migrated to version ")
    assert services.settings.database_url == empty_database_url
    assert psql(empty_database_url, "select count(*) from leasehold.jobs") == "0"
