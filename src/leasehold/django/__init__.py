"""Tasks of Django as jobs: `TASKS = {"default": {"BACKEND": "leasehold.django.Backend"}}`, and this package in INSTALLED_APPS.

Django comes in here: `backend.py` enqueues and shows results on connections of Django's, `worker.py` runs tasks, `management/` is
`manage.py leasehold`. `terms.py` says what a task is as a job, and a job as a result. Nobody else in leasehold imports this, and
only this imports Django. Start with `backend.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leasehold.django.backend import Backend
    from leasehold.django.terms import LeaseholdContext as Context

__all__ = ["Backend", "Context"]


def __getattr__(name: str) -> Any:
    """Loaded when it is needed: Django imports this package before its settings are complete."""
    if name == "Backend":
        from leasehold.django.backend import Backend  # noqa: PLC0415

        return Backend
    if name == "Context":
        from leasehold.django.terms import LeaseholdContext  # noqa: PLC0415

        return LeaseholdContext
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
