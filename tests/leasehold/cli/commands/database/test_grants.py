from __future__ import annotations

import pytest

from leasehold.cli.runtime.services import Services
from tests.leasehold.cli.conftest import Cli


class Applied(Services):
    """Pretends that the roles are in force, since those belong to the whole server."""

    def __init__(self) -> None:
        self.applied: list[str] = []

    async def find_prefix(self, dsn: str) -> str | None:
        return "shop_"

    async def apply_grants(self, dsn: str, prefix: str) -> None:
        self.applied.append(prefix)


def test_the_script_needs_no_database(run_cli: Cli) -> None:
    emitted = run_cli("grants", "--emit", "--prefix", "shop_")
    assert (emitted.code, emitted.err) == (0, "")
    assert emitted.out.startswith("-- leasehold: its Postgres roles")
    assert "c_prefix  constant text := 'shop_';" in emitted.out
    assert emitted.out.rstrip().endswith("commit;")


def test_without_roles_it_says_what_makes_them(cli: Cli) -> None:
    shown = cli("grants", "--output", "text")
    assert shown.code == 0
    assert shown.out.splitlines()[-1] == "they are not in force here; `leasehold grants --apply` makes them"
    roles = cli("grants", "--output", "json").json()["roles"]
    producer = next(each for each in roles if each["name"] == "leasehold_producer")
    assert producer["functions"] == ["clock", "enqueue_job", "enqueue_jobs", "enqueue_with_times", "wake_idle_workers"]


def test_applying_keeps_the_prefix_that_is_there(cli: Cli) -> None:
    services = Applied()
    shown = cli("grants", "--apply", "--output", "text", services=services)
    assert (shown.code, services.applied) == (0, ["shop_"])
    assert "shop_owner" in shown.out
    assert shown.out.splitlines()[-1].startswith("they are in force")


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [(["--emit", "--apply"], "choose one"), (["--emit", "--prefix", "Shop"], "cannot begin the name of a role")],
)
def test_what_makes_no_sense_is_refused(run_cli: Cli, flags: list[str], complaint: str) -> None:
    refused = run_cli("grants", *flags)
    assert (refused.code, refused.out) == (2, "")
    assert complaint in refused.err
