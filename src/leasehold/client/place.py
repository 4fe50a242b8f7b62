"""Which database a client uses when nobody names one: that of the settings, else the embedded one of `leasehold up`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path

import msgspec

from leasehold.concurrency.flavour import running_flavour
from leasehold.concurrency.threads import in_thread
from leasehold.errors import SettingsError
from leasehold.payloads.options import PayloadOptions, payload_options


class DatabasePlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where the database is, the way to it without its pooler, and where payloads lie."""

    dsn: str
    direct_dsn: str | None = None
    payloads: PayloadOptions


@asynccontextmanager
async def find_place(environ: Mapping[str, str]) -> AsyncGenerator[DatabasePlace]:
    """That of the settings, else the embedded database, which runs inside the block. Raises SettingsError where there is none."""
    from leasehold.settings import load_settings  # noqa: PLC0415  only where nobody says which database

    settings = load_settings({}, environ)
    payloads = payload_options(settings)
    if settings.database_url is not None:
        yield DatabasePlace(dsn=settings.database_url, direct_dsn=settings.direct_database_url, payloads=payloads)
        return
    async with _embedded(Path(settings.data_folder) if settings.data_folder else None) as dsn:
        yield DatabasePlace(dsn=dsn, payloads=payloads)


@asynccontextmanager
async def _embedded(folder: Path | None) -> AsyncGenerator[str]:
    """Share the server with `leasehold up` and others: it is started where it does not run, and ends with its last user."""
    from leasehold.database.embedded import data_version, embedded_postgres, find_data_folder  # noqa: PLC0415

    found = find_data_folder(folder)
    if data_version(found) is None:
        raise SettingsError(
            f"no database: none is configured and there is no embedded one in {found}; start one with `leasehold up`, or name "
            'yours: open_client("postgresql://…") or LEASEHOLD_DATABASE_URL'
        )
    server = embedded_postgres(found, create=False)
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
