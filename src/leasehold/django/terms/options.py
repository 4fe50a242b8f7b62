"""What stands under OPTIONS of a backend in the settings of Django."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from django.core.exceptions import ImproperlyConfigured

from leasehold.errors import BadInput
from leasehold.jobs.endings import RetryPolicy


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """OPTIONS of a backend, all of which may be left out.

    Attributes:
        database: which one of DATABASES has the jobs.
        max_attempts: of tasks that do not say it; 20 if not given.
        retry: the back-off of such tasks, by the fields of `leasehold.RetryPolicy`: `{"initial": 10, "cap": 300}`.
        modules: those that declare tasks, beside the module `tasks` of each installed app.
        app: `module:attribute` of an app of leasehold, whose kinds and schedules the workers serve as well.
        dashboard: the address of the dashboard; the admin has a link to it.
        settings: of `leasehold`, for `manage.py leasehold`: `{"slots": 8}`. What the environment says goes before.
    """

    database: str = "default"
    max_attempts: int | None = None
    retry: RetryPolicy | None = None
    modules: tuple[str, ...] = ()
    app: str | None = None
    dashboard: str | None = None
    settings: dict[str, Any] = {}


def read_options(given: Mapping[str, Any]) -> Options:
    """The options. Raises ImproperlyConfigured, which names what is wrong."""
    try:
        return msgspec.convert(dict(given), Options)
    except (msgspec.ValidationError, BadInput) as error:
        raise ImproperlyConfigured(f"OPTIONS of a leasehold.django.Backend: {error}") from error
