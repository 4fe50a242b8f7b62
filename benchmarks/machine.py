"""On what it was measured."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import msgspec
import psutil

from benchmarks.server import Server, connected

SETTINGS = (
    "fsync", "synchronous_commit", "full_page_writes", "wal_level", "wal_compression", "shared_buffers", "max_wal_size",
    "checkpoint_timeout", "autovacuum_naptime", "jit",
)  # fmt: skip


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """`load` is the load average of the last minute before anything was measured: other people's work."""

    processor: str
    cores: int
    memory_gb: float
    load: float
    python: str
    postgres: str
    is_embedded: bool
    settings: dict[str, str]

    @property
    def is_durable(self) -> bool:
        """Whether an acknowledged commit survives a crash of the machine."""
        return all(self.settings[name] == "on" for name in ("fsync", "synchronous_commit", "full_page_writes"))


async def describe(server: Server) -> Machine:
    """The facts."""
    async with connected(server.dsn) as connection:
        rows = await connection.fetch(
            "select name, current_setting(name) from pg_settings where name = any ($1)", SETTINGS
        )
        return Machine(
            processor=_processor(),
            cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
            memory_gb=round(psutil.virtual_memory().total / 1e9, 1),
            load=os.getloadavg()[0],
            python=platform.python_version(),
            postgres=str(await connection.fetchval("show server_version")),
            is_embedded=server.pid is not None,
            settings={row[0]: row[1] for row in rows},
        )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
