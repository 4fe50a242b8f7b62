"""The Postgres servers that tests run against."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from leasehold.database.cluster import Cluster, StopMode
from leasehold.database.embedded import find_programs
from tests.support.waiting import PATIENCE

UNSAFE: Mapping[str, str] = {"fsync": "off", "full_page_writes": "off"}
# Autovacuum looks, and finds nothing to do: whatever it is at, its transaction is the oldest of the server for a moment, it
# holds locks of tables, and the plan of a statement depends on whether it was there.
QUIET: Mapping[str, str] = {
    "autovacuum_vacuum_threshold": "2000000000",
    "autovacuum_vacuum_insert_threshold": "-1",
    "autovacuum_analyze_threshold": "2000000000",
}
SYSTEM_PROGRAMS = Path("/usr/lib/postgresql")
CHOICES = "embedded18, embedded16, system15, or a connection string"


class Server(Protocol):
    """Where tests make their databases."""

    def dsn(self, database: str = "postgres") -> str: ...

    @property
    def psql(self) -> str: ...


class OwnServer:
    """A cluster in a temporary folder, which a test may stop and start as it likes."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.start = cluster.start

    @property
    def psql(self) -> str:
        return str(self._cluster.programs / "psql")

    @property
    def data_folder(self) -> Path:
        return self._cluster.data

    @property
    def socket_folder(self) -> Path:
        return self._cluster.socket_folder

    @property
    def log(self) -> str:
        return (self._cluster.folder / "postgres.log").read_text()

    def dsn(self, database: str = "postgres") -> str:
        return self._cluster.dsn(database)

    def stop(self, mode: StopMode = "fast") -> None:
        self._cluster.stop(mode)

    def restart(self, mode: StopMode = "fast") -> None:
        self._cluster.restart(mode)


class GivenServer:
    """A server that somebody else runs; its connection string must be a URL whose user may create databases."""

    psql = "psql"

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    def dsn(self, database: str = "postgres") -> str:
        base, question, options = self._dsn.partition("?")
        scheme, rest = base.split("://", 1)
        return f"{scheme}://{rest.split('/', 1)[0]}/{database}{question}{options}"


def programs_of(choice: str) -> Path:
    """The Postgres programs that a value of LEASEHOLD_TEST_POSTGRES means."""
    if choice.startswith("embedded"):
        return find_programs(int(choice.removeprefix("embedded")))
    if choice.startswith("system"):
        return SYSTEM_PROGRAMS / choice.removeprefix("system") / "bin"
    raise ValueError(f"LEASEHOLD_TEST_POSTGRES is {choice!r}; it may be {CHOICES}")


@contextmanager
def own_server(
    choice: str, folder: Path, *, durable: bool = False, conf: Mapping[str, str] | None = None
) -> Generator[OwnServer]:
    """A server for this test run alone; not durable means that only processes may crash, not the machine."""
    cluster = Cluster(
        folder, programs_of(choice), conf={**({} if durable else {**UNSAFE, **QUIET}), **(conf or {})}, sync=False
    )
    cluster.start()
    try:
        yield OwnServer(cluster)
    finally:
        cluster.stop("fast" if durable else "immediate")


def psql_on(program: str, dsn: str, sql: str) -> str:
    """What the real psql prints, unaligned and without headings; fails with what it says on an error."""
    command = [program, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", dsn]
    done = subprocess.run(command, check=False, input=sql, capture_output=True, text=True, timeout=PATIENCE * 2)
    if done.returncode != 0:
        raise AssertionError(f"psql failed on {sql!r}: {done.stderr.strip()}")
    return done.stdout.removesuffix("\n")


_numbers = itertools.count(1)


@contextmanager
def new_database(server: Server, template: str, prefix: str) -> Generator[str]:
    """The connection string of a database made from a template, dropped at the end whoever is still connected."""
    name = f"{prefix}_{next(_numbers)}"
    admin = server.dsn()
    psql_on(server.psql, admin, f'create database "{name}" template "{template}" strategy file_copy')  # twice as fast
    try:
        yield server.dsn(name)
    finally:
        psql_on(server.psql, admin, f'drop database if exists "{name}" with (force)')
