"""How to open a client."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from leasehold import database as databases
from leasehold.app import App
from leasehold.client.client import Client
from leasehold.database import Caller
from leasehold.notify.doorbell import open_doorbell


@asynccontextmanager
async def open_client(
    dsn: str | None = None,
    *,
    app: App | None = None,
    pool_size: int = 5,
    listens: bool = True,
    direct_dsn: str | None = None,
) -> AsyncGenerator[Client]:
    """A client with a pool of its own, under trio or asyncio.

    Args:
        dsn: a Postgres URL; empty: the PG… environment variables decide. None: what `leasehold run` would use, from
            LEASEHOLD_DATABASE_URL (with LEASEHOLD_DIRECT_DATABASE_URL), DATABASE_URL or leasehold.toml, else PG….
        app: check args against these kinds.
        pool_size: the most connections, without the one that listens.
        listens: as in `Client`.
        direct_dsn: where to listen, when `dsn` leads through a pooler.

    Raises:
        SettingsError: without a dsn, where the environment or leasehold.toml says something that is no setting.

    Example:
        async with open_client("postgresql://…", app=app) as client:
            job_id = await client.enqueue(greet.new(name="Ada"), priority=5)
    """
    if dsn is None:
        dsn, configured = _configured()
        direct_dsn = direct_dsn or configured
    async with AsyncExitStack() as stack:
        if databases.running_flavour() == "trio":
            opening = databases.open_database(dsn, pool_size=pool_size, direct_dsn=direct_dsn)
        else:
            opening = databases.open_asyncio_database(dsn, pool_size=pool_size, direct_dsn=direct_dsn)
        database: Caller = await stack.enter_async_context(opening)
        doorbell = await stack.enter_async_context(open_doorbell(database))
        yield Client(database, app=app, doorbell=doorbell, listens=listens)


def _configured() -> tuple[str, str | None]:
    """The database that the settings name, and the way to it without its pooler."""
    from leasehold.settings import load_settings  # noqa: PLC0415  only where nobody says which database

    settings = load_settings({}, os.environ)
    return settings.database_url or "", settings.direct_database_url
