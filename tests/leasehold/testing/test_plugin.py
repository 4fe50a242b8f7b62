from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.servers import Server
from tests.support.waiting import PATIENCE

A_USERS_TEST = """
import pytest
from leasehold import App
from leasehold.testing import Kit

app = App()

@app.kind
def double(number: int) -> int:
    return 2 * number

@pytest.fixture
def leasehold_app():
    return app

@pytest.mark.parametrize("number", [1, 2])
def test_it(leasehold_kit, number):
    assert leasehold_kit.jobs() == []
    assert leasehold_kit.run(double.new(number)).output == 2 * number
"""


def test_pytest_finds_the_fixtures_and_nothing_is_left_behind(tmp_path: Path, postgres_server: Server) -> None:
    (tmp_path / "test_user.py").write_text(A_USERS_TEST)
    environ = os.environ | {"LEASEHOLD_TEST_DATABASE_URL": postgres_server.dsn()}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_user.py"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    said, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, "2 passed" in said) == (0, True), said
    names = subprocess.run(
        [postgres_server.psql, "-X", "-A", "-t", "-c", "select datname from pg_database", postgres_server.dsn()],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    ).stdout
    assert f"leasehold_test_{process.pid}_" not in names
