"""A task of Django with the options that leasehold adds, and the context that its function gets."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUntypedBaseClass=false

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from leasehold.django.terms.interface import base
from leasehold.jobs.endings import RetryPolicy
from leasehold.jobs.job import Job
from leasehold.jobs.new_job import Unique

OF_JOBS = ("max_attempts", "timeout", "deadline", "unique", "key", "key_group", "idempotency_key")
"""The fields that go to the job as they are, by the names of `leasehold.jobs.JobOptions`."""

DECLARED: dict[str, Any] = {}
"""The tasks of this process by their paths, as they were declared: the first of each path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseholdTask(base.Task):
    """What `@task` makes where the backend is `leasehold.django.Backend`: `@task(max_attempts=5, timeout=60)`.

    Attributes:
        max_attempts: how often a job may be tried; that of the backend's OPTIONS if not given.
        timeout: seconds that one attempt may run.
        deadline: seconds after which a job fails, whatever its state.
        retry: the back-off between attempts; that of OPTIONS if not given.
        unique: which other jobs count as the same, and what happens if there is one.
        key, key_group, idempotency_key: of one enqueue, by `using(...)`: see `leasehold.jobs.JobOptions`.
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
