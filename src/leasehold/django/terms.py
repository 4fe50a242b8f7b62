"""What Django says and what we say for it: its interface of tasks, OPTIONS of a backend, a task, its job, the result of that.

The interface is `django.tasks` from Django 6.0 on, before that the same in the package `django-tasks`. Nothing here asks a
database.
"""

# Neither is a dependency of leasehold, so nothing of them is known to the type checker here.
# pyright: reportMissingModuleSource=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import django
import msgspec
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone
from django.utils.module_loading import import_string

from leasehold import errors
from leasehold.errors import BadInput
from leasehold.jobs.endings import RetryPolicy
from leasehold.jobs.job import Job
from leasehold.jobs.new_job import NewJob, Unique
from leasehold.records.jobs import JobRecord, TimelineEntry

VERSION: tuple[int, int] = (int(django.VERSION[0]), int(django.VERSION[1]))
PACKAGE = "django.tasks" if VERSION >= (6, 0) else "django_tasks"

OF_JOBS = ("max_attempts", "timeout", "deadline", "unique", "key", "key_group", "idempotency_key")
"""The fields that go to the job as they are, by the names of `leasehold.jobs.new_job.JobOptions`."""

DECLARED: dict[str, Any] = {}
"""The tasks of this process by their paths, as they were declared: the first of each path."""

POSITIONAL = "*"
"""Under this name lie the arguments without a name. The others lie beside it under their own, so that `unique`, filters and
producers in other languages find them."""
BACKEND, RUN_AFTER = "django_backend", "django_run_after"
DEFAULT_ALIAS = "default"

FAILURES = ("attempt_failed", "reaped", "failed", "cancelled")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseholdTask(base.Task):
    """What `@task` makes where the backend is `leasehold.django.Backend`: `@task(max_attempts=5, timeout=60)`.

    Attributes:
        max_attempts: how often a job may be tried; that of the backend's OPTIONS if not given.
        timeout: seconds that one attempt may run.
        deadline: seconds after which a job fails, whatever its state.
        retry: the back-off between attempts; that of OPTIONS if not given.
        unique: which other jobs count as the same, and what happens if there is one.
        key, key_group, idempotency_key: of one enqueue, by `using(...)`: see `leasehold.jobs.new_job.JobOptions`.
    """

    max_attempts: int | None = None
    timeout: float | None = None
    deadline: float | None = None
    retry: RetryPolicy | None = None
    unique: Unique | None = None
    key: str | None = field(default=None, compare=False)
    key_group: str | None = field(default=None, compare=False)
    idempotency_key: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        base.Task.__post_init__(self)  # `super()` does not know the class that has slots
        DECLARED.setdefault(self.module_path, self)

    def using(self, *, backend: str | None = None, **changes: Any) -> Any:
        """A task with other values: those of Django (priority, queue_name, run_after, backend), and those above."""
        given = {name: value for name, value in {"backend": backend, **changes}.items() if value is not None}
        return replace(self, **given)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseholdContext(base.TaskContext):
    """The first argument of a task that takes its context.

    Attributes:
        job: of leasehold, for `job.log`, `job.progress` and `job.prepare`.
    """

    job: Job


def new_job(alias: str, task: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> NewJob[Any]:
    """The job of a task on the backend of this name. `args` and `kwargs` are what JSON has."""
    run_at = None if task.run_after is None else aware(task.run_after)
    kept = {} if alias == DEFAULT_ALIAS else {BACKEND: alias}
    kept |= {} if run_at is None else {RUN_AFTER: run_at.isoformat()}
    job = NewJob[Any](
        kind=task.module_path,
        args={**kwargs, POSITIONAL: list(args)} if args else dict(kwargs),
        queue=task.queue_name,
        priority=int(task.priority),
        run_at=run_at,
        metadata=kept or None,
    )
    options: Any = {name: getattr(task, name, None) for name in OF_JOBS}
    return job.but(**options)


def arguments(stored: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments without a name, and those with one."""
    named = dict(stored)
    return list(named.pop(POSITIONAL, [])), named


def options_of(metadata: Mapping[str, Any] | None) -> tuple[str, datetime | None]:
    """The name of the backend and `run_after`, as `new_job` has written them down."""
    known = metadata or {}
    run_after = known.get(RUN_AFTER)
    return known.get(BACKEND, DEFAULT_ALIAS), None if run_after is None else datetime.fromisoformat(run_after)


def aware(moment: datetime) -> datetime:
    """With a time zone: that of the project where it has none."""
    return timezone.make_aware(moment) if timezone.is_naive(moment) else moment


def in_django_zone(moment: datetime | None) -> datetime | None:
    """As `django.utils.timezone.now` tells it: in UTC, or without a zone where the project uses none."""
    if moment is None:
        return None
    utc = aware(moment).astimezone(UTC)
    return utc if settings.USE_TZ else timezone.make_naive(utc)


STATUSES: Mapping[str, Any] = {
    "claimed": Status.RUNNING,
    "running": Status.RUNNING,
    "completed": Status.SUCCESSFUL,
    "failed": Status.FAILED,
    "cancelled": Status.FAILED,
}
"""All other states are READY: such a job waits for its time, its turn or its next attempt."""


def find_task(path: str) -> Any:
    """The task that stands at this path. Raises ImportError."""
    found = import_string(path)
    if not isinstance(found, base.Task):
        raise ImportError(f"{path} is no task; put @task above the function")  # noqa: TRY004  nothing else is caught
    return found


def as_enqueued(task: Any, job: JobRecord, alias: str) -> Any:
    """The task with the priority, queue and time of this job; as it is declared where somebody has moved the job elsewhere."""
    run_after = in_django_zone(options_of(job.metadata)[1])
    try:
        return task.using(priority=job.priority, queue_name=job.queue, run_after=run_after, backend=alias)
    except InvalidTask:
        return task


def make_result(task: Any, result_id: str, status: Any, args: Any, kwargs: Any, alias: str, **known: Any) -> Any:
    """A result of Django's, of which nothing is known but this."""
    unknown = dict.fromkeys(("enqueued_at", "started_at", "last_attempted_at", "finished_at"))
    lists: dict[str, Any] = {"errors": [], "worker_ids": []}
    given = {"id": result_id, "status": status, "args": args, "kwargs": kwargs, "backend": alias}
    return base.TaskResult(task=task, **unknown | lists | given | known)


def result_of(job: JobRecord, timeline: Sequence[TimelineEntry], task: Any, alias: str) -> Any:
    """The result.

    Args:
        job: as it stands.
        timeline: what happened to it; may be left out where it has no history.
        task: as it is declared.
        alias: of the backend that is asked.
    """
    args, kwargs = arguments(job.args)
    starts = sorted(entry.at for entry in timeline if entry.event in ("started", "claimed"))
    tried = job.started_at or job.claimed_at or (starts[-1] if starts else None)
    status = STATUSES.get(job.state, Status.READY)
    result = make_result(
        as_enqueued(task, job, alias), str(job.id), status, args, kwargs, alias,
        enqueued_at=in_django_zone(job.created_at),
        started_at=in_django_zone(starts[0] if starts else tried),
        last_attempted_at=in_django_zone(tried),
        finished_at=in_django_zone(job.finished_at),
        errors=errors_of(job, timeline),
        worker_ids=workers_of(job, timeline),
    )  # fmt: skip
    object.__setattr__(result, "_return_value", job.output)
    return result


def has_history(job: JobRecord) -> bool:
    """Whether there is more to say of its attempts than the job says itself."""
    return job.attempt > 1 or (job.attempt == 1 and job.state not in STATUSES)


def workers_of(job: JobRecord, timeline: Sequence[TimelineEntry]) -> list[str]:
    """The worker of each attempt, in their order."""
    by_attempt = {entry.attempt: entry.worker_id for entry in timeline if entry.worker_id is not None}
    if job.worker_id is not None:
        by_attempt.setdefault(job.attempt, job.worker_id)
    return [by_attempt.get(attempt, "") for attempt in range(1, job.attempt + 1)]


def errors_of(job: JobRecord, timeline: Sequence[TimelineEntry]) -> list[Any]:
    """With what its attempts failed, in their order. A job that failed for good says so twice in its timeline."""
    found: list[tuple[int, Any]] = []
    for entry in timeline:
        if entry.event in FAILURES and entry.detail and (entry.attempt, entry.detail) not in found:
            found.append((entry.attempt, entry.detail))
    if not found and job.error and job.state in ("failed", "cancelled"):
        found = [(job.attempt, job.error)]
    return [task_error(each) for _, each in found]


def task_error(error: Mapping[str, Any]) -> Any:
    """One error. What no exception of Python has caused, such as the death of a worker, has its words in place of a traceback."""
    name, message = str(error.get("type") or "ChainCancelled"), str(error.get("message") or "")
    return base.TaskError(
        exception_class_path=class_path(name), traceback=str(error.get("traceback") or f"{name}: {message}\n")
    )


def class_path(name: str) -> str:
    """Where the class of an exception stands that a job names: builtin, ours, or by its module."""
    if "." in name:
        return name
    if isinstance(getattr(builtins, name, None), type):
        return f"builtins.{name}"
    return f"leasehold.errors.{name if hasattr(errors, name) else 'HandlerFailed'}"


def type_name(error: BaseException) -> str:
    """How a job names the class of an exception, so that `class_path` finds it again."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
