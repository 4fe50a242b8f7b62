"""The snippets of docs/sync.md, put together into one module and run on every connection."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import asyncpg
import psycopg
import pytest
import sqlalchemy
import trio
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from benchmarks.owned import close_in_django, tell_django
from leasehold import Client, open_client
from leasehold.sync.client import SyncClient
from tests.support.flavours import in_flavour
from tests.support.working import working

PAGE = Path(__file__).parents[2] / "docs" / "sync.md"
SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COUNTS = "select (select count(*) from users)::int, (select count(*) from leasehold.jobs where kind = 'welcome')::int"


@pytest.fixture
def page(tmp_path: Path) -> ModuleType:
    """All snippets as a module."""
    path = tmp_path / "sync_page.py"
    path.write_text("\n\n".join(SNIPPET.findall(PAGE.read_text())))
    spec = importlib.util.spec_from_file_location("sync_page", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def place(fresh_database_url: str) -> Generator[str]:
    """A database with a table of the user's; in the end it has one row, and there is one job."""
    with psycopg.connect(fresh_database_url) as connection:
        connection.execute("create table users (name text)")
    yield fresh_database_url
    with psycopg.connect(fresh_database_url) as connection:
        assert connection.execute(COUNTS).fetchone() == (1, 1)


def engine_of(dsn: str) -> sqlalchemy.Engine:
    return sqlalchemy.create_engine(sqlalchemy.make_url(dsn).set(drivername="postgresql+psycopg"))


def awaited(dsn: str, work: Callable[[Client], Awaitable[object]]) -> None:
    async def main() -> None:
        async with open_client(dsn) as client:
            await work(client)

    in_flavour("asyncio", main)


async def test_the_client_waits_for_what_a_worker_brings(database_url: str, page: ModuleType) -> None:
    async with working(database_url, page.app, queues=("mail",)):
        with SyncClient(database_url, app=page.app) as client:
            assert await trio.to_thread.run_sync(page.greet, client) == "welcome, Ada"


def test_psycopg(place: str, page: ModuleType) -> None:
    with psycopg.connect(place) as connection:
        page.sign_up_psycopg(SyncClient(), connection)


def test_psycopg_under_asyncio(place: str, page: ModuleType) -> None:
    async def work(client: Client) -> None:
        async with await psycopg.AsyncConnection.connect(place) as connection:
            await page.sign_up_psycopg_async(client, connection)

    awaited(place, work)


def test_asyncpg(place: str, page: ModuleType) -> None:
    async def work(client: Client) -> None:
        connection: Any = await cast("Any", asyncpg).connect(place)
        await page.sign_up_asyncpg(client, connection)
        await connection.close()

    awaited(place, work)


def test_sqlalchemy_session(place: str, page: ModuleType) -> None:
    engine = engine_of(place)
    with Session(engine) as session:
        page.sign_up_session(SyncClient(), session)
    engine.dispose()


def test_sqlalchemy_connection(place: str, page: ModuleType) -> None:
    engine = engine_of(place)
    with engine.connect() as connection:
        page.sign_up_sqlalchemy(SyncClient(), connection)
    engine.dispose()


@pytest.mark.parametrize("driver", ["asyncpg", "psycopg"])
def test_sqlalchemy_async_session(place: str, page: ModuleType, driver: str) -> None:
    async def work(client: Client) -> None:
        engine = create_async_engine(sqlalchemy.make_url(place).set(drivername=f"postgresql+{driver}"))
        async with AsyncSession(engine) as session:
            await page.sign_up_async_session(client, session)
        await engine.dispose()

    awaited(place, work)


@pytest.mark.parametrize("driver", ["asyncpg", "psycopg"])
def test_sqlalchemy_async_connection(place: str, page: ModuleType, driver: str) -> None:
    async def work(client: Client) -> None:
        engine = create_async_engine(sqlalchemy.make_url(place).set(drivername=f"postgresql+{driver}"))
        async with engine.connect() as connection:
            await page.sign_up_sqlalchemy_async(client, connection)
        await engine.dispose()

    awaited(place, work)


def test_django(place: str, page: ModuleType) -> None:
    tell_django(place, "default")
    try:
        page.sign_up_django(SyncClient())
    finally:
        close_in_django("default")


def test_connections_of_the_client(place: str, page: ModuleType) -> None:
    with SyncClient(place) as client:
        page.sign_up(client)


def test_any_other_driver(place: str, page: ModuleType) -> None:
    with psycopg.connect(place) as connection:
        connection.execute("insert into users (name) values ('Ada')")
        assert page.sign_up_cursor(connection.cursor()) == 1
