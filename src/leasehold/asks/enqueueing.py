"""Jobs as callers give them, as the statement that writes them, and the answer to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from leasehold.asks.ask import Ask, Rows
from leasehold.errors import BadInput
from leasehold.jobs.encoding import Check, encode_jobs, flatten, refused_job
from leasehold.jobs.new_job import JobOptions, NewJob
from leasehold.records.jobs import EnqueuedJob


def one_job(job: NewJob[Any] | str, args: Mapping[str, Any] | None, options: JobOptions) -> NewJob[Any]:
    """The job that `enqueue` was given. Raises BadInput for what is none."""
    if isinstance(job, str):
        job = NewJob(kind=job, args={} if args is None else args)
    elif not isinstance(cast("object", job), NewJob):
        raise refused_job("enqueue takes a job made by kind.new(...), or the name of a kind", job)
    elif args is not None:
        raise BadInput("give args with the name of a kind; a job made by kind.new(...) has its own")
    return job.but(**options)


def many_jobs(jobs: Iterable[NewJob[Any]]) -> list[NewJob[Any]]:
    """The jobs that `enqueue_many` was given. Raises BadInput for what are none."""
    if isinstance(cast("object", jobs), (NewJob, str)) or not isinstance(cast("object", jobs), Iterable):
        raise refused_job("enqueue_many takes jobs made by kind.new(...); give a list of jobs", jobs)
    listed = list(jobs)
    for job in listed:
        if not isinstance(cast("object", job), NewJob):
            raise refused_job("enqueue_many takes jobs made by kind.new(...)", job)
    return listed


class JobBatch:
    """Jobs that go in one statement.

    Args:
        jobs: as they were given.
        check: fills in the defaults of their kinds, and refuses args that do not fit.
        knows: whether `check` knows a kind of this name. What it does not know, the catalogue of the database may.

    Attributes:
        flat: the jobs with their new blockers, each after its blockers, as they are written.
        is_checked: whether all their kinds are known here, so that the database need not look at its catalogue.
    """

    def __init__(
        self, jobs: Sequence[NewJob[Any]], check: Check, knows: Callable[[str], bool] = lambda _kind: False
    ) -> None:
        self.flat, self._places = flatten(jobs, check)
        self.is_checked = all(map(knows, {job.kind for job in self.flat}))

    @property
    def queues(self) -> set[str] | None:
        """Where workers are to look; None where the database may choose, which wakes them itself then."""
        if not self.is_checked and any(job.queue is None for job in self.flat):
            return None
        return {job.queue or "default" for job in self.flat}

    def ask(self, *, notify: bool) -> Ask[list[EnqueuedJob]]:
        """The statement, which answers for each of `flat`. `notify`: idle workers are woken at its commit."""
        return Ask(
            "enqueue_jobs",
            (encode_jobs(self.flat), *options_of(notify=notify, is_checked=self.is_checked)),
            read_enqueued,
        )

    def given(self, made: Sequence[EnqueuedJob]) -> list[EnqueuedJob]:
        """Those of the answers that belong to the jobs that were given, in their order."""
        return [made[place] for place in self._places]


def options_of(*, notify: bool, is_checked: bool) -> tuple[bool, ...]:
    """What enqueue_jobs takes after the jobs: a list that is checked here is not held against the catalogue again."""
    return (notify, False) if is_checked else (notify,)


def read_enqueued(rows: Rows) -> list[EnqueuedJob]:
    """The answer of enqueue_jobs."""
    return [EnqueuedJob(row["job_id"], row["is_new"], row["outcome"]) for row in rows]
