"""Whether the databases of the project have our schema: a check of Django's, for when it may ask them."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.core import checks
from django.db import connections

from leasehold.django.project.backends import our_backends
from leasehold.drivers.django_connection import fetch_alone
from leasehold.errors import DatabaseError, SchemaMismatch

MIGRATE = "run: manage.py leasehold migrate"


def check_schema(databases: Sequence[str] | None = None, **_kwargs: Any) -> Iterable[checks.CheckMessage]:
    """Whether our migrations have been applied to the databases that Django checks: with `migrate`, and `check --database`."""
    ours = {backend.chosen.database for backend in our_backends()}
    return [message for alias in sorted(ours.intersection(databases or ())) for message in _check_schema_of(alias)]


def _check_schema_of(alias: str) -> list[checks.CheckMessage]:
    from leasehold.database.migrations import expected_version, oldest_version  # noqa: PLC0415  slow to load
    from leasehold.database.migrations.state import VERSIONS  # noqa: PLC0415

    try:
        version = fetch_alone(connections[alias], VERSIONS.replace("$1", "%s"), (expected_version(),))[0]["version"]
    except SchemaMismatch:
        version = 0
    except DatabaseError as error:
        return [checks.Warning(f"the schema cannot be seen: {error}", obj=alias, id="leasehold.W002")]
    if version < oldest_version():
        told = f"has version {version} of leasehold's schema" if version else "lacks leasehold's schema"
        message = f"database {alias!r} {told}, this code needs {expected_version()}"
        return [checks.Warning(message, hint=MIGRATE, obj=alias, id="leasehold.W004")]
    if version < expected_version():
        message = f"database {alias!r} has version {version} of leasehold's schema; {expected_version()} is there"
        return [checks.Warning(message, hint=MIGRATE, obj=alias, id="leasehold.W003")]
    return []
