"""The embedded database of `leasehold up`, where nothing else is configured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import trio

from leasehold.database.embedded import embedded_postgres
from leasehold.database.migrations import migrate
from leasehold.errors import ClientClosed, SettingsError
from leasehold.sync.client import SyncClient
from tests.support.processes import clean_environment
from tests.support.waiting import PATIENCE

ENDS_WITHOUT_CLOSING = """
from leasehold.sync import Client
client = Client()
client.enqueue("echo")
"""

FORKS = """
import os, sys
from leasehold.sync import Client
client = Client()
client.enqueue("parent")
for does in "enqueues", "closes", "exits":
    child = os.fork()
    if child == 0:
        if does == "enqueues":
            client.enqueue("child")
        if does == "closes":
            client.close()
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    client.enqueue("parent")
client.close()
"""


@pytest.fixture
def migrated(folder: Path) -> Path:
    with embedded_postgres(sync=False) as server:
        trio.run(migrate, server.dsn)
    return folder


def kinds(client: SyncClient) -> list[str]:
    return sorted(str(each.kind) for each in client.chains.list())


def is_running() -> bool:
    return any(Path(".leasehold/postgres").rglob("postmaster.pid"))


def test_without_a_dsn_a_client_finds_the_embedded_database_running_or_not(migrated: Path) -> None:
    with embedded_postgres() as server:
        with SyncClient() as client:
            assert client.get(client.enqueue("echo")).kind == "echo"
        assert server.is_running()
    assert not is_running()
    with SyncClient() as client:
        assert client.get(client.enqueue("echo")).kind == "echo"
        assert is_running()
    assert not is_running()
    with pytest.raises(ClientClosed):
        client.enqueue("echo")


def test_where_there_is_no_database_it_says_how_to_get_one_and_makes_none(folder: Path) -> None:
    advice = r"start one with `leasehold up`, or name yours: leasehold\.sync\.Client\("
    with SyncClient() as client:
        for _ in range(2):
            with pytest.raises(
                SettingsError, match=f"there is no embedded one in {folder}/.leasehold/postgres; {advice}"
            ):
                client.enqueue("echo")
    assert list(folder.iterdir()) == []


def test_the_server_ends_with_a_program_that_does_not_close_its_client(migrated: Path) -> None:
    run(ENDS_WITHOUT_CLOSING)
    assert not is_running()


def test_a_copy_of_the_process_uses_the_server_and_does_not_end_it_for_the_original(migrated: Path) -> None:
    run(FORKS)
    assert not is_running()
    with SyncClient() as client:
        assert kinds(client) == ["child", "parent", "parent", "parent", "parent"]


def run(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, env=clean_environment({}), timeout=PATIENCE * 2)
