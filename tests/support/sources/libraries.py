"""Makes the tables of a library in a database, with the library's own migrations. Run as a program, because Django can be set up
once in a process: python -m tests.support.sources.libraries NAME DSN."""

from __future__ import annotations

import asyncio
import sys
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


def procrastinate(dsn: str) -> None:
    """Procrastinate's schema, by its schema manager."""
    import procrastinate  # pyright: ignore[reportMissingImports]

    connector: Any = procrastinate.SyncPsycopgConnector(conninfo=dsn)
    with procrastinate.App(connector=connector).open() as app:
        app.schema_manager.apply_schema()


def pgqueuer(dsn: str) -> None:
    """PgQueuer's schema, by its own queries."""
    from importlib import import_module

    from pgqueuer.db import AsyncpgDriver  # pyright: ignore
    from pgqueuer.queries import Queries  # pyright: ignore

    async def install() -> None:
        connection: Any = await import_module("asyncpg").connect(dsn)
        await Queries(AsyncpgDriver(connection)).install()
        await connection.close()

    asyncio.run(install())


def django(dsn: str) -> None:
    """The schemas of django-celery-beat and django-tasks-db, by Django's migrations."""
    import django as framework
    from django.conf import settings
    from django.core import management

    parts = urlsplit(dsn)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    place = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.lstrip("/"),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", parts.hostname or ""),
        "PORT": query.pop("port", str(parts.port or "")),
        "OPTIONS": query,
    }
    configured: Any = settings
    configured.configure(
        INSTALLED_APPS=["django_tasks", "django_tasks_db", "django_celery_beat"],
        DATABASES={"default": place},
        USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    )
    framework.setup()
    manage: Any = management
    manage.call_command("migrate", verbosity=0)


if __name__ == "__main__":
    {"procrastinate": procrastinate, "pgqueuer": pgqueuer, "django": django}[sys.argv[1]](sys.argv[2])
