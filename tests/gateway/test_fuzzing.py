"""What schemathesis makes of the document, sent to a gateway with a real database.

It is slow because it sends some thousand requests; the run by hand (see fuzzing/schemathesis.toml) sends many more.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from leasehold.gateway.access import rates
from leasehold.gateway.serving.serve import open_service
from leasehold.settings import Settings
from tests.gateway.fakes.running import RunningGateway

ROOT = Path(__file__).parent.parent.parent
CONFIGURATION = Path(__file__).parent / "fuzzing" / "schemathesis.toml"
TOKEN = "fuzzing-token-of-32-characters-xx"
# A stream does not end, a wait takes its time, and aliases are the same handlers.
LEFT_OUT = r"^/api/(events|tasks|job-queue)|/wait$"


@pytest.fixture
def url(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    monkeypatch.setattr(rates, "FAILURES_AT_ONCE", 1_000_000)  # all of them come from one address
    settings = Settings(gateway_port=0, database_url=database_url, gateway_token=TOKEN)
    gateway = RunningGateway(lambda: open_service(settings))
    gateway.start()
    yield "http://{}:{}".format(*gateway.address)
    gateway.stop()


def send(url: str, folder: Path, *options: str) -> tuple[int, str]:
    """The exit code and what schemathesis says. It keeps what it finds in `folder`."""
    program = (
        sys.executable,
        "-m",
        "schemathesis.cli",
        "--config-file",
        str(CONFIGURATION),
        "run",
        f"{url}/openapi.json",
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCHEMATHESIS_HOOKS": "tests.gateway.fuzzing.hooks"}
    found = subprocess.run(
        [*program, "--no-color", "--checks", "all", "--generation-deterministic", "--request-timeout", "60", *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return found.returncode, found.stdout + found.stderr


def test_every_answer_is_one_that_the_document_promises(url: str, tmp_path: Path) -> None:
    options = ("--exclude-path-regex", LEFT_OUT, "--phases", "examples,fuzzing,stateful", "--max-examples", "2")
    code, said = send(url, tmp_path, *options)
    assert code == 0, said


def test_every_limit_of_the_schemas_of_jobs_is_kept_on_both_sides(url: str, tmp_path: Path) -> None:
    options = ("--include-path-regex", r"^/api/(jobs|jobs/(counts|recover-stale|bulk/.*|\{id\}.*)|queues.*)$")
    code, said = send(url, tmp_path, *options, "--phases", "coverage")
    assert code == 0, said
