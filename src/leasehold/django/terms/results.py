"""From a job to the result of a task, as Django's interface has it. Pure, but for the import of the task."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.module_loading import import_string

from leasehold import errors
from leasehold.django.terms.interface import InvalidTask, Status, base
from leasehold.django.terms.jobs import arguments, as_django_tells, told
from leasehold.records.jobs import JobRecord, TimelineEntry

STATUSES: Mapping[str, Any] = {
    "claimed": Status.RUNNING,
    "running": Status.RUNNING,
    "completed": Status.SUCCESSFUL,
    "failed": Status.FAILED,
    "cancelled": Status.FAILED,
}
"""All other states are READY: such a job waits for its time, its turn or its next attempt."""
FAILURES = ("attempt_failed", "reaped", "failed", "cancelled")


def find_task(path: str) -> Any:
    """The task that stands at this path. Raises ImportError."""
    found = import_string(path)
    if not isinstance(found, base.Task):
        raise ImportError(f"{path} is no task; put @task above the function")  # noqa: TRY004  nothing else is caught
    return found


def as_enqueued(task: Any, job: JobRecord, alias: str) -> Any:
    """The task with the priority, queue and time of this job; as it is declared where somebody has moved the job elsewhere."""
    run_after = as_django_tells(told(job.metadata)[1])
    try:
        return task.using(priority=job.priority, queue_name=job.queue, run_after=run_after, backend=alias)
    except InvalidTask:
        return task


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
    result = base.TaskResult(
        task=as_enqueued(task, job, alias),
        id=str(job.id),
        status=STATUSES.get(job.state, Status.READY),
        enqueued_at=as_django_tells(job.created_at),
        started_at=as_django_tells(starts[0] if starts else tried),
        last_attempted_at=as_django_tells(tried),
        finished_at=as_django_tells(job.finished_at),
        args=args,
        kwargs=kwargs,
        backend=alias,
        errors=errors_of(job, timeline),
        worker_ids=workers_of(job, timeline),
    )
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
