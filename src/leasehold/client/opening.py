"""How to open a client, and which database it uses when nobody names one."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Any, NoReturn

from leasehold import database as databases
from leasehold import validation
from leasehold.app import App
from leasehold.client.client import Client
from leasehold.client.convoy import Convoy
from leasehold.concurrency.flavours import in_thread, running_flavour
from leasehold.errors import BadInput, ClientNotOpen
from leasehold.notify.doorbell import open_doorbell
from leasehold.payloads.options import PayloadOptions, open_store, payload_options


@asynccontextmanager
async def _embedded(folder: str | None) -> AsyncGenerator[str]:
    """Share the server with `leasehold up` and others: it is started where it does not run, and ends with its last user."""
    from leasehold.database.embedded import embedded_of_up  # noqa: PLC0415  only where nothing else is configured

    server = embedded_of_up(folder, 'open_client("postgresql://…")')
    dsn = (await in_thread(server.__enter__)).dsn
    try:
        yield dsn
    finally:
        await _leave(server)


async def _leave(server: AbstractContextManager[object]) -> None:
    if running_flavour() == "trio":
        import trio  # noqa: PLC0415  a program under asyncio needs none

        with trio.CancelScope(shield=True):
            await in_thread(server.__exit__, None, None, None)
    else:
        await in_thread(server.__exit__, None, None, None)


def open_client(
    dsn: str | None = None,
    *,
    app: App | None = None,
    pool_size: int = 5,
    listens: bool = True,
    direct_dsn: str | None = None,
    payloads: str | None = None,
    timeout: float | None = None,
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
        timeout: seconds that one statement may take, or the wait for a connection; DatabaseUnavailable says that they are over.
            None: without a `dsn` what LEASEHOLD_STATEMENT_SECONDS says, else 30.

    Raises:
        SettingsError: without a dsn, where there is no database, or the environment or leasehold.toml says something that is no
            setting.
        ClientNotOpen: when something is asked of what this returns, outside `async with`.
        BadInput: when something is asked in another event loop than the one that opened the client; nothing is written.

    Example:
        async with open_client("postgresql://…", app=app) as client:
            job_id = await client.enqueue(greet.new(name="Ada"), priority=5)
    """
    return _Opening(partial(_open, dsn, app, pool_size, listens, direct_dsn, payloads, _checked(timeout)))


def connect(
    dsn: str | None = None,
    *,
    app: App | None = None,
    pool_size: int = 5,
    listens: bool = True,
    direct_dsn: str | None = None,
    payloads: str | None = None,
    timeout: float | None = None,
) -> Connecting:
    """A client as of `open_client` that any task may close: `client = await connect(…)` for programs in which no block lasts as
    long as the client, and then `await client.close()`; or `async with connect(…) as client`, which closes it at the end.

    Args:
        dsn, app, pool_size, listens, direct_dsn, payloads, timeout: as for `open_client`.

    Raises:
        SettingsError: as for `open_client`.

    Example:
        client = await connect("postgresql://…", app=app)
        job_id = await client.enqueue(greet.new(name="Ada"), priority=5)
        await client.close()
    """
    return Connecting(partial(_connect, dsn, app, pool_size, listens, direct_dsn, payloads, _checked(timeout)))


class Connecting(AbstractAsyncContextManager[Client], Awaitable[Client]):
    """What `connect` returns: it is awaited, or used with `async with`, and has advice for who asks it something before."""

    def __init__(self, connects: Callable[[], Coroutine[Any, Any, Client]]) -> None:
        self._connects = connects
        self._client: Client | None = None

    def __await__(self) -> Generator[Any, Any, Client]:
        return self._connects().__await__()

    async def __aenter__(self) -> Client:
        if self._client is not None:
            raise BadInput("this is in use by another `async with` block; call connect() for each")
        self._client = await self
        return self._client

    async def __aexit__(self, *_error: object) -> None:
        client, self._client = self._client, None
        assert client is not None
        await client.close()

    def __getattr__(self, name: str) -> NoReturn:
        if hasattr(Client, name):
            raise ClientNotOpen(
                f"connect() returns no client yet: write `client = await connect(…)`, and call client.{name} then"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


async def _connect(*options: Any) -> Client:
    held = AsyncExitStack()
    opens = partial(_open, *options, held.aclose)
    if running_flavour() == "trio":
        from leasehold.concurrency.trio_apart import open_beside  # noqa: PLC0415  a program under asyncio needs none

        return await held.enter_async_context(open_beside(opens))
    return await held.enter_async_context(opens())


def _checked(timeout: float | None) -> float | None:
    seconds = None if timeout is None else validation.seconds("timeout", timeout)
    if seconds is not None and not seconds > 0:
        raise validation.refusal("timeout", "more than 0 seconds", timeout)
    return seconds


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
        raise ClientNotOpen(
            "open_client() is not awaited: write `async with open_client(…) as client:`, or `client = await connect(…)` and "
            "`await client.close()`"
        )


@asynccontextmanager
async def _open(
    dsn: str | None,
    app: App | None,
    pool_size: int,
    listens: bool,
    direct_dsn: str | None,
    payloads: str | None,
    timeout: float | None,
    closes: Callable[[], Awaitable[None]] | None = None,
) -> AsyncGenerator[Client]:
    options = PayloadOptions() if payloads is None else PayloadOptions(open_store(payloads))
    async with AsyncExitStack() as stack:
        if dsn is None:
            from leasehold.settings import load_settings  # noqa: PLC0415  only where nobody says which database

            settings = load_settings({}, os.environ)
            configured, dsn = payload_options(settings), settings.database_url
            options = configured if payloads is None else options
            timeout = settings.statement_seconds if timeout is None else timeout
            if dsn is None:
                dsn = await stack.enter_async_context(_embedded(settings.data_folder))
            else:
                direct_dsn = direct_dsn or settings.direct_database_url
        opens = databases.open_database if running_flavour() == "trio" else databases.open_asyncio_database
        opening = opens(dsn, pool_size=pool_size, direct_dsn=direct_dsn, timeout=timeout)
        database = await stack.enter_async_context(opening)
        convoy = Convoy(database)
        database.closers.append(convoy.close)
        doorbell = await stack.enter_async_context(open_doorbell(database))
        yield Client(
            database, app=app, doorbell=doorbell, listens=listens, convoy=convoy, payloads=options, closes=closes
        )
