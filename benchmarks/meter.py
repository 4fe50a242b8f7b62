"""What a stretch of work costs: time, CPU, WAL, memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec

from benchmarks.processes import Process, until
from benchmarks.readings import wal_position
from benchmarks.server import Connection, Server


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """Between two points in time. CPU is that of the worker processes, and of Postgres where it is ours (else 0)."""

    seconds: float
    cpu_seconds: float
    postgres_cpu_seconds: float
    wal_bytes: int

    def since(self, earlier: Spent) -> Spent:
        """The difference."""
        return Spent(**{name: getattr(self, name) - getattr(earlier, name) for name in self.__struct_fields__})


class Meter:
    """Reads the counters at the start and at the end, and memory in between."""

    def __init__(self, server: Server, connection: Connection, processes: Sequence[Process]) -> None:
        self._server = server
        self._connection = connection
        self._processes = processes
        self._start = Spent(seconds=0, cpu_seconds=0, postgres_cpu_seconds=0, wal_bytes=0)
        self.asked = 0
        self.peak_mb = 0.0

    async def start(self) -> None:
        """From here."""
        self._start = await self._read()

    async def stop(self) -> Spent:
        """To here."""
        return (await self._read()).since(self._start)

    async def watch(self, look: Callable[[], object] = lambda: None) -> None:
        """Wait until no job is left; calls `look` every 50 ms.

        The last job to be written is nearly the last to be claimed, so this waits for that one by its primary key: a
        look at the whole table would wade through the versions that the drain leaves behind.
        """
        last = await self._connection.fetchval("select coalesce(max(id), 0) from leasehold.jobs")

        def look_at_memory() -> None:
            self.peak_mb = max(self.peak_mb, *(process.memory_mb() for process in self._processes))
            look()

        for question in (
            f"select not exists (select from leasehold.jobs where id = {last})",
            "select not exists (select from leasehold.jobs)",
        ):
            self.asked += await until(self._connection, question, *self._processes, seconds=600, look=look_at_memory)

    async def _read(self) -> Spent:
        wal = await wal_position(self._connection)
        return Spent(
            seconds=time.perf_counter(),
            cpu_seconds=sum(process.cpu_seconds() for process in self._processes),
            postgres_cpu_seconds=self._server.cpu_seconds(),
            wal_bytes=wal,
        )
