"""Where a demo takes place: a folder for what it leaves behind, and a database."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import msgspec
import trio

from leasehold.database.embedded import embedded_postgres
from leasehold.database.programs import never
from leasehold.settings import Settings


class Place(msgspec.Struct, kw_only=True):
    """`description` is of the database, for people. With `keeps_logs` set, the folder stays, less the data."""

    dsn: str
    direct_dsn: str
    folder: Path
    description: str = "the configured database"
    keeps_logs: bool = False


@asynccontextmanager
async def open_place(settings: Settings, hurries: Callable[[], bool] = never) -> AsyncGenerator[Place]:
    """The configured database, or embedded Postgres: in `settings.data_folder` or else in a folder that is removed.

    However the block is left, the folder for reports and logs is removed, too, unless the place keeps its logs.
    As soon as `hurries()`, a database of its own is not waited for. Raises what `embedded_postgres` raises.
    """
    place = Place(
        dsn=settings.database_url or "",
        direct_dsn=settings.direct_database_url or settings.database_url or "",
        folder=Path(tempfile.mkdtemp(prefix="leasehold-demo-")),
    )
    (place.folder / "logs").mkdir()
    server = ExitStack()
    try:
        if settings.database_url is None:
            os.chmod(place.folder, 0o755)  # where we are root, Postgres is another user
            data = Path(settings.data_folder) if settings.data_folder else place.folder / "postgres"
            opening = embedded_postgres(data, sync=False, hurries=hurries)
            place.dsn = place.direct_dsn = (await trio.to_thread.run_sync(server.enter_context, opening)).dsn
            place.description = f"embedded Postgres in {data}"
        yield place
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(server.close)
        shutil.rmtree(place.folder / "postgres" if place.keeps_logs else place.folder, ignore_errors=True)
