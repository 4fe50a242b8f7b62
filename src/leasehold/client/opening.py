"""How to open a client."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Any, NoReturn

from leasehold import database as databases
from leasehold.app import App
from leasehold.client.client import Client
from leasehold.client.convoy import Convoy
from leasehold.client.place import find_place
from leasehold.errors import ClientNotOpen
from leasehold.notify.doorbell import open_doorbell
from leasehold.payloads.options import PayloadOptions
from leasehold.payloads.stores.opening import open_store


def open_client(
    dsn: str | None = None,
    *,
    app: App | None = None,
    pool_size: int = 5,
    listens: bool = True,
    direct_dsn: str | None = None,
    payloads: str | None = None,
) -> AbstractAsyncContextManager[Client]:
    """A client with a pool of its own, under trio or asyncio. Use it with `async with`.

    Args:
        dsn: a Postgres URL; empty: the PG… environment variables decide. None: what `leasehold run` would use, from
            LEASEHOLD_DATABASE_URL (with LEASEHOLD_DIRECT_DATABASE_URL), DATABASE_URL, leasehold.toml or PG…, else the embedded
            database of `leasehold up`, which runs at least as long as the client.
        app: check args against these kinds.
        pool_size: the most connections, without the one that listens.
        listens: as in `Client`.
        direct_dsn: where to listen, when `dsn` leads through a pooler.
        payloads: where payloads lie, a folder or the address of an object store. None: without a `dsn` what
            LEASEHOLD_PAYLOADS_STORE says, else nowhere.

    Raises:
        SettingsError: without a dsn, where there is no database, or the environment or leasehold.toml says something that is no
            setting.
        ClientNotOpen: when something is asked of what this returns, outside `async with`.

    Example:
        async with open_client("postgresql://…", app=app) as client:
            job_id = await client.enqueue(greet.new(name="Ada"), priority=5)
    """
    return _Opening(
        partial(_open, dsn, app=app, pool_size=pool_size, listens=listens, direct_dsn=direct_dsn, payloads=payloads)
    )


class _Opening(AbstractAsyncContextManager[Client]):
    """What `open_client` returns: a client only inside `async with`, and advice for who asks it something before."""

    def __init__(self, opens: Callable[[], AbstractAsyncContextManager[Client]]) -> None:
        self._opens = opens
        self._opened: AbstractAsyncContextManager[Client] | None = None

    async def __aenter__(self) -> Client:
        self._opened = self._opens()
        return await self._opened.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        assert self._opened is not None
        return await self._opened.__aexit__(kind, error, trace)

    def __getattr__(self, name: str) -> NoReturn:
        if hasattr(Client, name):
            raise ClientNotOpen(
                f"open_client() returns no client yet: write `async with open_client(…) as client:` and call client.{name} inside"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __await__(self) -> Generator[Any, None, NoReturn]:
        raise ClientNotOpen("open_client() is not awaited: write `async with open_client(…) as client:`")


@asynccontextmanager
async def _open(
    dsn: str | None,
    *,
    app: App | None,
    pool_size: int,
    listens: bool,
    direct_dsn: str | None,
    payloads: str | None,
) -> AsyncGenerator[Client]:
    options = PayloadOptions() if payloads is None else PayloadOptions(open_store(payloads))
    async with AsyncExitStack() as stack:
        if dsn is None:
            place = await stack.enter_async_context(find_place(os.environ))
            dsn, direct_dsn = place.dsn, direct_dsn or place.direct_dsn
            options = place.payloads if payloads is None else options
        if databases.running_flavour() == "trio":
            opening = databases.open_database(dsn, pool_size=pool_size, direct_dsn=direct_dsn)
        else:
            opening = databases.open_asyncio_database(dsn, pool_size=pool_size, direct_dsn=direct_dsn)
        database = await stack.enter_async_context(opening)
        convoy = Convoy(database.inner)
        database.inner.closers.append(convoy.close)
        doorbell = await stack.enter_async_context(open_doorbell(database))
        yield Client(database, app=app, doorbell=doorbell, listens=listens, convoy=convoy, payloads=options)
