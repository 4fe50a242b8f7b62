"""No command says a password or a token, whatever it is told to do and however it fails."""

from __future__ import annotations

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


def test_it_stays_unsaid(run_cli: Cli) -> None:
    for command in COMMANDS:
        for place in [
            f"postgresql://ada:{PASSWORD}@127.0.0.1:1/nowhere",
            f"postgresql://127.0.0.1:1/nowhere?user=ada&password={PASSWORD}",
            f"postgresql://ada:{PASSWORD}@127.0.0.1:port/nowhere",
        ]:
            environ = {"LEASEHOLD_DATABASE_URL": place, "LEASEHOLD_GATEWAY_TOKEN": TOKEN}
            said = run_cli(*command, "--log-level", "debug", "--verbose", environ=environ)
            for secret in (PASSWORD, TOKEN):
                assert secret not in said.out + said.err
