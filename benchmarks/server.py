"""The Postgres that is measured, with a fresh, migrated database for each measurement."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import psutil
import trio

from leasehold.database.embedded import embedded_postgres
from leasehold.database.migrations import migrate

T = TypeVar("T")

ROOT = Path(__file__).resolve().parent.parent
DRIVER: Any = asyncpg


class Connection(Protocol):
    """What is used here of a raw asyncpg connection, which has no types of its own."""

    async def fetch(self, query: str, *args: object) -> list[Any]: ...
    async def fetchval(self, query: str, *args: object) -> Any: ...
    async def execute(self, query: str, *args: object) -> str: ...
    async def add_listener(self, channel: str, callback: Callable[..., object]) -> None: ...
    def is_in_transaction(self) -> bool: ...


class Server:
    """A running Postgres whose user may create databases. `pid` is that of its postmaster, where it is ours."""

    def __init__(self, dsn: str, pid: int | None = None) -> None:
        self.dsn = dsn
        self.pid = pid
        self._prefix = f"leasehold_bench_{os.getpid()}"
        self._numbers = itertools.count(1)

    def dsn_of(self, database: str) -> str:
        """The connection string of one of its databases."""
        return urlunsplit(urlsplit(self.dsn)._replace(path=f"/{database}"))

    @contextmanager
    def template(self) -> Generator[None]:
        """Makes the migrated database that all others are copied from. Call it before there is an event loop."""
        name = f"{self._prefix}_template"
        run(self._command(f'create database "{name}"'))
        try:
            trio.run(migrate, self.dsn_of(name))
            yield
        finally:
            run(self._command(f'drop database if exists "{name}" with (force)'))

    @asynccontextmanager
    async def database(self) -> AsyncGenerator[str]:
        """A fresh, migrated database; yields its connection string."""
        name = f"{self._prefix}_{next(self._numbers)}"
        await self._command(f'create database "{name}" template "{self._prefix}_template"')
        try:
            await self._command("select leasehold.ensure_partitions(1)", name)
            yield self.dsn_of(name)
        finally:
            await self._command(f'drop database "{name}" with (force)')

    def cpu_seconds(self) -> float:
        """CPU that the server and its children, present and ended, have used; 0 where the server is somebody else's."""
        if self.pid is None:
            return 0.0
        postmaster = psutil.Process(self.pid)
        ended = postmaster.cpu_times()
        total = ended.children_user + ended.children_system
        for process in [postmaster, *postmaster.children()]:
            try:
                times = process.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += times.user + times.system
        return total

    async def cpu_percent(self, work: Awaitable[object]) -> float:
        """The share of a core that it takes while this work is done."""
        began, before = time.monotonic(), self.cpu_seconds()
        await work
        return (self.cpu_seconds() - before) / (time.monotonic() - began) * 100

    async def _command(self, statement: str, database: str | None = None) -> None:
        async with connected(self.dsn_of(database) if database else self.dsn) as connection:
            await connection.execute(statement)


@asynccontextmanager
async def connected(dsn: str) -> AsyncGenerator[Connection]:
    """A raw asyncpg connection."""
    connection = await DRIVER.connect(dsn, timeout=60, command_timeout=600)
    try:
        yield connection
    finally:
        await connection.close()


async def at_beats(connection: Connection, statement: str, number: int, per_second: float) -> None:
    """So many times this statement, evenly apart, each in a transaction of its own."""
    began = time.monotonic()
    for beat in range(number):
        await asyncio.sleep(max(0.0, began + beat / per_second - time.monotonic()))
        await connection.fetchval(statement)


@contextmanager
def open_server(dsn: str | None, conf: Mapping[str, str] | None = None) -> Generator[Server]:
    """The server at `dsn`, or Postgres of our own in a temporary folder, with the settings that users get, and with `conf`."""
    if dsn:
        yield Server(dsn)
        return
    folder = Path(tempfile.mkdtemp(prefix="leasehold-bench-")).resolve()
    folder.chmod(0o755)  # where we are root, Postgres is another user
    try:
        with embedded_postgres(folder / "postgres", conf=conf) as postgres:
            pid = int((postgres.data_folder / "data" / "postmaster.pid").read_text().split("\n", 1)[0])
            yield Server(postgres.dsn, pid)
    finally:
        shutil.rmtree(folder)


@asynccontextmanager
async def roomy(server: Server, connections: int, say: Callable[[str], None]) -> AsyncGenerator[Server]:
    """A server for so many connections: another one like it where this one is ours and has too few."""
    stack = ExitStack()  # in a thread: a template has event loops of its own
    try:
        if server.pid is not None and connections > 250:
            say("starting a Postgres with more connections")
            conf = {"max_connections": str(connections)}
            server = await asyncio.to_thread(stack.enter_context, open_server(None, conf))
            await asyncio.to_thread(stack.enter_context, server.template())
        yield server
    finally:
        await asyncio.to_thread(stack.close)


run = asyncio.run
