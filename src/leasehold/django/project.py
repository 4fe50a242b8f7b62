"""Which backends of the project are ours, and whether their databases have our schema."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from leasehold.django.backend import Backend
from leasehold.django.terms import InvalidBackend, tasks
from leasehold.drivers import fetch_django_alone
from leasehold.errors import DatabaseError, SchemaMismatch

MIGRATE = "run: manage.py leasehold migrate"


def our_backends() -> list[Backend]:
    """Those of TASKS, in their order. One of others that cannot be imported is theirs to complain about."""
    found: list[Backend] = []
    for alias in tasks.task_backends:
        with suppress(InvalidBackend):
            backend = tasks.task_backends[alias]
            found += [backend] if isinstance(backend, Backend) else []
    return found


def backend_to_serve(alias: str | None = None) -> Backend:
    """The one of this name, else the first. Raises ImproperlyConfigured where it is none of ours."""
    found = {backend.alias: backend for backend in our_backends()}
    if not found:
        raise ImproperlyConfigured(
            'TASKS names no leasehold backend: {"default": {"BACKEND": "leasehold.django.Backend"}}'
        )
    if alias is None:
        return next(iter(found.values()))
    if alias not in found:
        raise ImproperlyConfigured(f"TASKS[{alias!r}] is no leasehold backend; there are: {', '.join(found)}")
    return found[alias]


def check_schema(databases: Sequence[str] | None = None, **_kwargs: Any) -> Iterable[checks.CheckMessage]:
    """Whether our migrations have been applied to the databases that Django checks: with `migrate`, and `check --database`."""
    ours = {each.chosen.database for each in our_backends() if not any(found.is_serious() for found in each.check())}
    return [message for alias in sorted(ours.intersection(databases or ())) for message in _check_schema_of(alias)]


def _check_schema_of(alias: str) -> list[checks.CheckMessage]:
    from leasehold.database.migrations import expected_version, oldest_version  # noqa: PLC0415  slow to load
    from leasehold.database.migrations.state import VERSIONS  # noqa: PLC0415

    try:
        version = fetch_django_alone(connections[alias], VERSIONS.replace("$1", "%s"), (expected_version(),))[0][
            "version"
        ]
    except SchemaMismatch:
        version = 0
    except DatabaseError as error:
        return [checks.Warning(f"the schema cannot be seen: {error}", obj=alias, id="leasehold.W002")]
    if version < oldest_version():
        version_there = f"has version {version} of leasehold's schema" if version else "lacks leasehold's schema"
        message = f"database {alias!r} {version_there}, this code needs {expected_version()}"
        return [checks.Warning(message, hint=MIGRATE, obj=alias, id="leasehold.W004")]
    if version < expected_version():
        message = f"database {alias!r} has version {version} of leasehold's schema; {expected_version()} is there"
        return [checks.Warning(message, hint=MIGRATE, obj=alias, id="leasehold.W003")]
    return []
