"""What Postgres counts: commits, WAL, row versions."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from benchmarks.processes import until
from benchmarks.server import Connection, Server, connected

COUNTERS = """
select (select xact_commit from pg_stat_database where datname = current_database()),
       coalesce((select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables
                  where relname in ('jobs', 'narrow') or relname like 'finished_jobs%'), 0)::bigint
"""
TRANSACTIONS = "select xact_commit + xact_rollback from pg_stat_database where datname = $1"


class Counters(msgspec.Struct, frozen=True):
    """Commits of a database, and row versions that its job tables have seen (inserted, updated, deleted)."""

    commits: int
    row_versions: int

    def since(self, earlier: Counters) -> Counters:
        """The difference."""
        return Counters(self.commits - earlier.commits, self.row_versions - earlier.row_versions)


async def read_counters(server: Server, dsn: str) -> Counters:
    """Exact once nobody is connected to the database any more: a session reports when it ends, so this waits for that."""
    async with connected(server.dsn) as admin:
        await until(
            admin,
            "select not exists (select from pg_stat_activity"
            f" where datname = '{name_of(dsn)}' and backend_type = 'client backend')",
        )
    async with connected(dsn) as connection:
        commits, row_versions = (await connection.fetch(COUNTERS))[0]
        return Counters(commits, row_versions)


def name_of(dsn: str) -> str:
    """The name of a database."""
    return urlsplit(dsn).path.removeprefix("/")


async def count_transactions(connection: Connection, dsn: str) -> int:
    """How many a database has seen. Asked from another database, the question itself does not count."""
    return int(await connection.fetchval(TRANSACTIONS, name_of(dsn)))


async def wal_position(connection: Connection) -> int:
    """How many bytes of WAL have ever been written."""
    return int(await connection.fetchval("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"))


def cpu_clock(pid: int) -> Callable[[], float]:
    """µs of CPU that a process has used, as finely as Linux tells; elsewhere µs of the clock on the wall."""
    path = Path(f"/proc/{pid}/schedstat")
    if path.exists():
        return lambda: int(path.read_text().split()[0]) / 1000
    return lambda: time.perf_counter_ns() / 1000
