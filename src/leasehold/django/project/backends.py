"""Which backends of the project are ours."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from contextlib import suppress

from django.core.exceptions import ImproperlyConfigured

from leasehold.django.backend import Backend
from leasehold.django.terms.interface import InvalidBackend, tasks


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
