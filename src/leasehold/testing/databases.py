"""A database for each test: a copy of a migrated one."""

from __future__ import annotations

import itertools
import os
import re
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

import outcome
import psutil
import trio

from leasehold.database import Database, open_database
from leasehold.database.migrations import migrate

T = TypeVar("T")

# Functions of ours ask `clock()` for the time, in each session; `travel` moves it for all of them.
MOVABLE_CLOCK = """
create schema if not exists leasehold_testing;
create table if not exists leasehold_testing.travel (shift interval not null);
delete from leasehold_testing.travel;
insert into leasehold_testing.travel values ('0');
create or replace function leasehold.clock() returns timestamptz language sql volatile parallel safe as $$
select pg_catalog.clock_timestamp() + (select shift from leasehold_testing.travel)
$$;
"""
LEAVE_SECONDS = 10.0
LOOK_SECONDS = 0.01
SESSIONS = """
select count(*) from pg_stat_activity
 where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
   and backend_start < (select backend_start from pg_stat_activity where pid = pg_backend_pid())
"""
OURS = re.compile(r"leasehold_test_(\d+)_\w+")


def run_apart(function: Callable[..., Awaitable[T]], *args: Any) -> T:
    """Run it under trio in a thread of its own, which knows nothing of the caller's event loop; blocks until it has ended."""
    results: list[outcome.Outcome[T]] = []
    thread = threading.Thread(target=lambda: results.append(outcome.capture(trio.run, function, *args)), daemon=True)
    thread.start()
    thread.join()
    return results[0].unwrap()


class TestDatabases:
    """Makes databases on one server.

    Args:
        dsn: of any database of the server, as a URL; its user may create databases.
    """

    __test__ = False

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._numbers = itertools.count(1)
        self._template: str | None = None

    def url(self, name: str) -> str:
        """The connection string of a database of this server."""
        base, question, options = self._dsn.partition("?")
        scheme, rest = base.split("://", 1)
        return f"{scheme}://{rest.split('/', 1)[0]}/{name}{question}{options}"

    def template(self) -> str:
        """The name of the migrated database that tests get copies of; made at the first call."""
        if self._template is None:
            self._drop_orphans()
            name = self._new_name("template")
            self.execute(f"create database {name} template template0")
            run_apart(fill, self.url(name))
            self._template = name
        return self._template

    @contextmanager
    def new(self) -> Generator[str]:
        """The connection string of a fresh migrated database, dropped with the block whoever is still connected."""
        name = self._new_name("db")
        self.copy(self.template(), name)
        try:
            yield self.url(name)
        finally:
            self.drop(name)

    def copy(self, source: str, name: str) -> None:
        """Make a database that is as `source` is, to which nobody may be connected."""
        self.execute(f"create database {name} template {source}")

    def drop(self, name: str) -> None:
        """Drop a database whoever is connected."""
        self.execute(f"drop database if exists {name} with (force)")

    def close(self) -> None:
        """Drop what is left of ours."""
        if self._template is not None:
            self.drop(self._template)
            self._template = None

    def replace(self, name: str, source: str) -> None:
        """Drop a database whoever is connected, and make it anew as `source` is."""
        self.execute(f"drop database if exists {name} with (force)", f"create database {name} template {source}")

    def execute(self, *statements: str) -> None:
        """Run statements outside of the tests' databases, each a transaction of its own."""
        run_apart(_execute, self._dsn, *statements)

    def _new_name(self, what: str) -> str:
        return f"leasehold_test_{os.getpid()}_{what}_{next(self._numbers)}"

    def _drop_orphans(self) -> None:
        """Drop the databases that a killed test run has left."""
        for name in run_apart(_list_ours, self._dsn):
            found = OURS.fullmatch(name)
            if found and not psutil.pid_exists(int(found[1])):
                self.drop(name)


async def fill(dsn: str) -> None:
    """Make or update our schema, with a clock that can be moved."""
    await migrate(dsn)
    await _execute(dsn, MOVABLE_CLOCK)


async def _execute(dsn: str, *statements: str) -> None:
    async with open_database(dsn, pool_size=1, application_name="leasehold testing") as database:
        for each in statements:
            await database.execute(each)


async def _list_ours(dsn: str) -> list[str]:
    async with open_database(dsn, pool_size=1, application_name="leasehold testing") as database:
        rows = await database.fetch("select datname::text from pg_database where datname like 'leasehold\\_test\\_%'")
        return [row[0] for row in rows]


async def until_alone(database: Database) -> None:
    """Until Postgres has noticed the end of the sessions of the dead, which takes it a moment."""
    with trio.move_on_after(LEAVE_SECONDS):
        while (await database.fetch(SESSIONS))[0][0]:  # noqa: ASYNC110  Postgres sets no event
            await trio.sleep(LOOK_SECONDS)
