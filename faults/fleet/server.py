"""The Postgres of a run: one cluster, and in a failover the standby that takes its place."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, LiteralString

import psutil
import psycopg

from faults.fleet.standby import change_over
from leasehold.database.cluster import SOCKET_NAME, Cluster, StopMode
from leasehold.database.embedded import find_programs
from leasehold.errors import DatabaseError

VERSION = 18
CONF = {
    "max_connections": "200",
    "track_commit_timestamp": "on",
    "log_min_messages": "warning",
    "max_wal_size": "8GB",
}
DATABASE = "postgres"
TRIES = 100


class Server:
    """Its methods block: call them in threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs = find_programs(VERSION)
        self.primary = Cluster(folder / "a", self._programs, conf=CONF, sync=False)
        self._number = 0

    @property
    def dsn(self) -> str:
        """Leads to the primary without a proxy."""
        return self.primary.dsn(DATABASE)

    def socket_path(self) -> str:
        """Where the primary listens now."""
        return str(self.primary.socket_folder / SOCKET_NAME)

    def restart(self, mode: StopMode) -> None:
        """Stop and start it."""
        self.primary.restart(mode)

    def fail_over(self) -> None:
        """A synchronous standby, made for this, takes the place of the primary, which is gone in an instant."""
        self._number += 1
        former = self.primary
        standby = Cluster(self._folder / f"standby{self._number}", self._programs, conf=CONF, sync=False)
        change_over(former, standby, DATABASE)
        self.primary = standby
        shutil.rmtree(former.folder, ignore_errors=True)

    def kill_postmaster(self) -> None:
        """SIGKILL, then start it again, as a service manager does."""
        pid = self.primary.postmaster_pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            self._until_dead(pid)
        self._start_at_last()

    def kill_backend(self) -> None:
        """SIGKILL one backend: Postgres restarts all of them."""
        with suppress(psycopg.Error):
            pids = [
                row[0]
                for row in self.query("select pid from pg_stat_activity where application_name like 'leasehold%'")
            ]
            if pids:
                os.kill(pids[0], signal.SIGKILL)

    def query(self, sql: LiteralString, *args: object) -> list[tuple[Any, ...]]:
        """Ask the primary directly."""
        with psycopg.connect(self.dsn, autocommit=True, application_name="faults") as connection:
            return connection.execute(sql, args or None).fetchall()

    def execute(self, sql: LiteralString, *args: object) -> None:
        """Tell the primary something."""
        with psycopg.connect(self.dsn, autocommit=True, application_name="faults") as connection:
            connection.execute(sql, args or None)

    def _until_dead(self, pid: int) -> None:
        """A process that is about to die would still count as running."""
        with suppress(psutil.Error):
            while psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                time.sleep(0.02)

    def _start_at_last(self) -> None:
        """Orphaned backends hold the shared memory until they notice; until then it does not start."""
        for _ in range(TRIES):
            with suppress(DatabaseError):
                self.primary.start()
                return
            time.sleep(0.1)
        self.primary.start()


@contextmanager
def open_server() -> Generator[Server]:
    """A cluster in a temporary folder, stopped and removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="leasehold-faults-")).resolve()
    folder.chmod(0o755)  # where we are root, Postgres is another user
    server = Server(folder)
    try:
        server.primary.start()
        yield server
    finally:
        with suppress(Exception):
            server.primary.stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)
