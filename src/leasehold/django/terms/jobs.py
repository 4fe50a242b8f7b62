"""From a task and its arguments to a job, and back. Pure."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from leasehold.django.terms.task import OF_JOBS
from leasehold.jobs.new_job import NewJob

POSITIONAL = "*"
"""Under this name lie the arguments without a name. The others lie beside it under their own, so that `unique`, filters and
producers in other languages find them."""
BACKEND, RUN_AFTER = "django_backend", "django_run_after"
DEFAULT_ALIAS = "default"


def new_job(alias: str, task: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> NewJob[Any]:
    """The job of a task on the backend of this name. `args` and `kwargs` are what JSON has."""
    run_at = None if task.run_after is None else aware(task.run_after)
    told = {} if alias == DEFAULT_ALIAS else {BACKEND: alias}
    told |= {} if run_at is None else {RUN_AFTER: run_at.isoformat()}
    job = NewJob[Any](
        kind=task.module_path,
        args={**kwargs, POSITIONAL: list(args)} if args else dict(kwargs),
        queue=task.queue_name,
        priority=int(task.priority),
        run_at=run_at,
        metadata=told or None,
    )
    options: Any = {name: getattr(task, name, None) for name in OF_JOBS}
    return job.but(**options)


def arguments(stored: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments without a name, and those with one."""
    named = dict(stored)
    return list(named.pop(POSITIONAL, [])), named


def told(metadata: Mapping[str, Any] | None) -> tuple[str, datetime | None]:
    """The name of the backend and `run_after`, as `new_job` has written them down."""
    known = metadata or {}
    run_after = known.get(RUN_AFTER)
    return known.get(BACKEND, DEFAULT_ALIAS), None if run_after is None else datetime.fromisoformat(run_after)


def aware(moment: datetime) -> datetime:
    """With a time zone: that of the project where it has none."""
    return timezone.make_aware(moment) if timezone.is_naive(moment) else moment


def as_django_tells(moment: datetime | None) -> datetime | None:
    """As `django.utils.timezone.now` tells it: in UTC, or without a zone where the project uses none."""
    if moment is None:
        return None
    utc = aware(moment).astimezone(UTC)
    return utc if settings.USE_TZ else timezone.make_naive(utc)
