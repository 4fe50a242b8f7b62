"""Where a demo takes place: a folder for what it leaves behind, and a database."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import msgspec
import trio

from leasehold.database.embedded import EmbeddedPostgres, embedded_postgres
from leasehold.database.programs import never
from leasehold.errors import LeaseholdError
from leasehold.settings import Settings


class DemoFailed(LeaseholdError):
    """The demo could not go on."""


class Place(msgspec.Struct, kw_only=True):
    """`description` is one line on the database, for people. With `keeps_logs` set, the folder stays, less the data."""

    dsn: str
    folder: Path
    description: str
    is_own_database: bool
    keeps_logs: bool = False


@asynccontextmanager
async def open_place(settings: Settings, hurries: Callable[[], bool] = never) -> AsyncGenerator[Place]:
    """The configured database, or embedded Postgres: in `settings.data_folder` or else in a folder that is removed.

    However the block is left, the folder for reports and logs is removed, too, unless the place keeps its logs.
    As soon as `hurries()`, a database of its own is not waited for. Raises what `embedded_postgres` raises.
    """
    folder = _new_folder()
    place: Place | None = None
    try:
        if settings.database_url is not None:
            place = Place(
                dsn=settings.database_url, folder=folder, description="the configured database", is_own_database=False
            )
            yield place
        else:
            data = Path(settings.data_folder) if settings.data_folder else folder / "postgres"
            async with _own_database(data, hurries) as server:
                version = f"embedded Postgres in {data}"
                place = Place(dsn=server.dsn, folder=folder, description=version, is_own_database=True)
                yield place
    finally:
        _remove(folder / "postgres" if place is not None and place.keeps_logs else folder)


@asynccontextmanager
async def _own_database(data: Path, hurries: Callable[[], bool]) -> AsyncGenerator[EmbeddedPostgres]:
    stack = ExitStack()
    try:
        opening = embedded_postgres(data, sync=False, hurries=hurries)
        yield await trio.to_thread.run_sync(stack.enter_context, opening)
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(stack.close)


def _new_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="leasehold-demo-"))
    folder.chmod(0o755)  # where we are root, Postgres is another user
    return folder


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
