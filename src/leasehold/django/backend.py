"""The backend of Django's tasks that keeps them as jobs, on a connection of Django's and in its transaction; and its checks."""

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from django.apps import apps
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from leasehold import validation
from leasehold.asks import Ask, get_job, get_timeline
from leasehold.django.terms import (
    BaseBackend,
    InvalidTask,
    LeaseholdTask,
    Options,
    Status,
    exceptions,
    find_task,
    has_history,
    in_django_zone,
    make_result,
    new_job,
    read_options,
    result_of,
    signals,
)
from leasehold.drivers import POSTGRES, call_text, fetch_django_alone
from leasehold.errors import BadInput, UnknownJob
from leasehold.jobs.encoding import JobBatch
from leasehold.payloads.claim_checks import filled, find_check
from leasehold.payloads.options import open_store
from leasehold.records.jobs import JobRecord
from leasehold.settings import load_settings
from leasehold.settings.sources import environment_name

T = TypeVar("T")


def ask_on(alias: str, ask: Ask[T]) -> T:
    """What comes of an ask, in the transaction of this thread's connection if one is open. Raises our errors."""
    connection: Any = connections[alias]
    return ask.read(
        fetch_django_alone(connection, call_text(ask.function, len(ask.values), style="format"), ask.values)
    )


class Backend(BaseBackend):
    """`TASKS = {"default": {"BACKEND": "leasehold.django.Backend"}}`: tasks are jobs in the database of the project.

    A task exists if, and only if, the transaction commits in which it was enqueued, and workers are woken then. Outside of
    `atomic` it exists at once. An enqueue is one statement. `manage.py leasehold run worker` runs the tasks.

    OPTIONS are those of `leasehold.django.terms.Options`.
    """

    task_class = LeaseholdTask
    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    @cached_property
    def chosen(self) -> Options:
        """OPTIONS, checked. Raises ImproperlyConfigured."""
        return read_options(self.options)

    def validate_task(self, task: Any) -> None:
        """Raise InvalidTask for a task that this backend cannot run."""
        super().validate_task(task)
        try:
            validation.check_name("the path of a task", task.module_path)
            validation.check_queue("queue_name", task.queue_name)
        except BadInput as error:
            raise InvalidTask(str(error)) from error

    def enqueue(self, task: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Make a job of the task in the transaction that is open, and return its result, which is READY.

        Where `unique` or `idempotency_key` finds a job that is there already, the result is that job's.

        Raises:
            InvalidTask: see `validate_task`.
            TypeError: JSON does not have an argument.
            BadInput: an argument is larger than a job may be, or another value is out of range.
            UniqueConflict: another job has the unique key, and `unique` says to reject this one.
            SchemaMismatch: `manage.py leasehold migrate` has not been run.
        """
        self.validate_task(task)
        result = make_result(task, "", Status.READY, args, kwargs, self.alias)
        job = new_job(self.alias, task, result.args, result.kwargs).but(
            max_attempts=getattr(task, "max_attempts", None) or self.chosen.max_attempts
        )
        values = JobBatch([job], lambda _kind: None).values(notify=True)
        [row] = self._ask(Ask("enqueue_with_times", values, list))
        if not row["is_new"]:
            return self.get_result(str(row["job_id"]))
        result = replace(result, id=str(row["job_id"]), enqueued_at=in_django_zone(row["created_at"]))
        signals.task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> Any:
        """The result of this id, as it stands. Raises TaskResultDoesNotExist, also for a job that is no task."""
        try:
            job = self._filled(self._ask(get_job(int(result_id))))
            task = find_task(job.kind)
        except (UnknownJob, BadInput, ValueError, ImportError) as error:
            raise exceptions.TaskResultDoesNotExist(str(result_id)) from error
        timeline = self._ask(get_timeline(job.id)) if has_history(job) else []
        return result_of(job, timeline, task, self.alias)

    def check(self, **_kwargs: Any) -> Iterable[Any]:
        """What is wrong with the settings of this backend. The database is not asked: `manage.py check --database` does that."""
        return check_backend(self)

    def _filled(self, job: JobRecord) -> JobRecord:
        """The job with its large args and output, where the settings of leasehold name a payload store."""
        if find_check(job.args) is None and find_check(job.output) is None:
            return job
        given = {environment_name(name): str(value) for name, value in self.chosen.settings.items()}
        where = load_settings({}, given | dict(os.environ)).payloads_store
        if where is None:
            return job
        return filled(job, open_store(where), self._call)

    def _call(self, function: str, *values: Any) -> Sequence[Any]:
        return self._ask(Ask(function, values, list))

    def _ask(self, ask: Ask[Any]) -> Any:
        return ask_on(self.chosen.database, ask)


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
