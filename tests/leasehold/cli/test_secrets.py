"""No command says a password or a token, whatever it is told to do and however it fails."""

from __future__ import annotations

from itertools import product

from tests.leasehold.cli.conftest import Cli

PASSWORD, TOKEN = "hunter2-of-the-database", "token-of-the-gateway"
COMMANDS = [
    ("config", "show"),
    ("config", "show", "--output", "text"),
    ("doctor",),
    ("status",),
    ("migrate", "--dry-run"),
    ("tokens", "list"),
    ("grants",),
    ("gateway", "--port", "0", "--fail-fast"),
    ("run", "reaper", "--fail-fast"),
]


PLACES = [
    f"postgresql://ada:{PASSWORD}@127.0.0.1:1/nowhere",
    f"postgresql://127.0.0.1:1/nowhere?user=ada&password={PASSWORD}",
    f"postgresql://ada:{PASSWORD}@127.0.0.1:port/nowhere",
]


def test_it_stays_unsaid(run_cli: Cli) -> None:
    # All commands say an address by the same function, which some try with each way to write it.
    for command, place in [*((each, PLACES[0]) for each in COMMANDS), *product(COMMANDS[:3], PLACES[1:])]:
        environ = {"LEASEHOLD_DATABASE_URL": place, "LEASEHOLD_GATEWAY_TOKEN": TOKEN}
        said = run_cli(*command, "--log-level", "debug", "--verbose", environ=environ)
        assert PASSWORD not in said.out + said.err
        assert TOKEN not in said.out + said.err
