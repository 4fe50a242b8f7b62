"""The interface of Django's tasks: `django.tasks` from Django 6.0 on, before that the same in the package `django-tasks`."""

# Neither is a dependency of leasehold, so nothing of them is known to the type checker here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingModuleSource=false

from __future__ import annotations

from importlib import import_module
from typing import Any

import django
from django.core.exceptions import ImproperlyConfigured

VERSION: tuple[int, int] = (int(django.VERSION[0]), int(django.VERSION[1]))
PACKAGE = "django.tasks" if VERSION >= (6, 0) else "django_tasks"


def part(name: str = "") -> Any:
    """A module of the interface. Raises ImproperlyConfigured, which says what to install."""
    try:
        return import_module(f"{PACKAGE}{name}")
    except ModuleNotFoundError as error:
        if error.name != PACKAGE:
            raise
        version = ".".join(map(str, VERSION))
        raise ImproperlyConfigured(
            f"Django {version} has no tasks of its own: pip install django-tasks, or use Django 6.0 or later"
        ) from error


base: Any = part(".base")
exceptions: Any = part(".exceptions")
signals: Any = part(".signals")
tasks: Any = part()

InvalidTask: Any = getattr(exceptions, "InvalidTask", None) or exceptions.InvalidTaskError
InvalidBackend: Any = getattr(exceptions, "InvalidTaskBackend", None) or exceptions.InvalidTaskBackendError
BaseBackend: Any = part(".backends.base").BaseTaskBackend
Status: Any = base.TaskResultStatus
