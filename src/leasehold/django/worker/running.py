"""One attempt of a task, in a thread of the worker."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import sys
from collections.abc import Mapping
from inspect import iscoroutinefunction
from typing import Any

import trio
from django.db import close_old_connections, reset_queries
from django.utils import timezone

from leasehold.actors.attempts.outcome import CONTROLS, describe
from leasehold.django.backend import Backend
from leasehold.django.terms.interface import PACKAGE, Status, base, part, signals
from leasehold.django.terms.jobs import arguments, as_django_tells, told
from leasehold.django.terms.results import find_task, task_error, type_name
from leasehold.django.terms.task import LeaseholdContext
from leasehold.django.worker.awaiting import awaited
from leasehold.errors import HandlerFailed, tell
from leasehold.jobs.endings import ContinueWith, Discard
from leasehold.jobs.job import Job

normalize_json: Any = (part(".utils") if PACKAGE == "django_tasks" else sys.modules["django.utils.json"]).normalize_json
PASS = (*CONTROLS, trio.Cancelled)
"""What a task raises to end its attempt in a way of leasehold's, and what ends a job that was cancelled."""


def run_task(job: Job, args: dict[str, Any]) -> Any:
    """Run a task as the handler of its job. The connections of this thread are closed before and after, as for a request."""
    reset_queries()
    close_old_connections()
    try:
        return TaskAttempt(job, find_task(job.kind), args).run()
    finally:
        close_old_connections()


class TaskAttempt:
    """An attempt of a task.

    Args:
        job: that the task is.
        task: as it is declared.
        args: as they are stored.
    """

    def __init__(self, job: Job, task: Any, args: Mapping[str, Any]) -> None:
        self._job = job
        self._task = task
        self._result = self._running_result(args)

    def run(self) -> Any:
        """Call the function and return what JSON has of its value. Raises what it raises, told by its full name."""
        result, task = self._result, self._task
        signals.task_started.send_robust(sender=Backend, task_result=result)
        context = (LeaseholdContext(task_result=result, job=self._job),) if task.takes_context else ()
        try:
            value = self._call(*context, *result.args)
        except Discard as error:
            self._failed(error, is_last=True)
            raise
        except PASS:
            raise
        except BaseException as error:
            self._failed(error, is_last=self._job.attempt >= self._job.max_attempts)
            tell(error, self._description(error))
            if isinstance(error, Exception):
                raise
            raise self._in_place_of(error) from error
        if isinstance(value, ContinueWith):
            self._finish(Status.SUCCESSFUL, None)
            return value
        output = self._json_of(value)
        self._finish(Status.SUCCESSFUL, output)
        return output

    def _call(self, *args: Any) -> Any:
        function, named = self._task.func, self._result.kwargs
        return awaited(function, *args, **named) if iscoroutinefunction(function) else function(*args, **named)

    def _json_of(self, value: Any) -> Any:
        """Raises Discard where JSON does not have it: another attempt would do all of it again, for nothing."""
        try:
            return normalize_json(value)
        except (TypeError, ValueError) as error:
            self._failed(error, is_last=True)
            raise tell(Discard(str(error)), self._description(error)) from error

    def _failed(self, error: BaseException, *, is_last: bool) -> None:
        """Note the error; tell that the task has finished, unless it is tried again."""
        self._result.errors.append(task_error(self._description(error)))
        if is_last:
            self._finish(Status.FAILED, None)

    def _finish(self, status: Any, output: Any) -> None:
        result = self._result
        object.__setattr__(result, "finished_at", timezone.now())
        object.__setattr__(result, "_return_value", output)
        object.__setattr__(result, "status", status)
        signals.task_finished.send_robust(sender=Backend, task_result=result)

    def _in_place_of(self, error: BaseException) -> HandlerFailed:
        """What is no Exception, such as SystemExit, fails the attempt and not the worker."""
        return tell(HandlerFailed(f"{type(error).__qualname__}: {error}"), self._description(error))

    def _description(self, error: BaseException) -> dict[str, Any]:
        return describe(error) | {"type": type_name(error)}

    def _running_result(self, args: Mapping[str, Any]) -> Any:
        job, now = self._job, timezone.now()
        positional, named = arguments(args)
        alias, _ = told(job.metadata)
        return base.TaskResult(
            task=self._task,
            id=str(job.id),
            status=Status.RUNNING,
            enqueued_at=as_django_tells(job.created_at),
            started_at=now,
            last_attempted_at=now,
            finished_at=None,
            args=positional,
            kwargs=named,
            backend=alias,
            errors=[],
            worker_ids=[""] * (job.attempt - 1) + [job.worker_id],
        )
