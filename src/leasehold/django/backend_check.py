"""What may be wrong with the settings of a backend. Django asks at each start; no database is asked."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from leasehold.drivers.django_connection import POSTGRES


def check_backend(backend: Any) -> Iterable[checks.CheckMessage]:
    """What is wrong with the settings of a backend."""
    where = f"TASKS[{backend.alias!r}]"
    try:
        alias = backend.chosen.database
    except ImproperlyConfigured as error:
        return [checks.Error(str(error), obj=where, id="leasehold.E001")]
    if alias not in connections.settings:
        return [checks.Error(f"DATABASES has no {alias!r}", obj=where, id="leasehold.E002")]
    if connections[alias].vendor != POSTGRES:
        vendor = connections[alias].vendor
        return [
            checks.Error(f"jobs live in Postgres; DATABASES[{alias!r}] is {vendor}", obj=where, id="leasehold.E003")
        ]
    if not apps.is_installed("leasehold.django"):
        hint = "without it there is no manage.py leasehold, and nobody runs the tasks"
        return [checks.Warning("INSTALLED_APPS lacks 'leasehold.django'", hint=hint, obj=where, id="leasehold.W001")]
    return []
