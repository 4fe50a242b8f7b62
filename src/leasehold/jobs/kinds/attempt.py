"""An attempt as its middlewares see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leasehold.jobs.handling.context import Context
from leasehold.jobs.handling.job import Job
from leasehold.jobs.kinds.kind import Kind


class Attempt:
    """An attempt that is about to run.

    Attributes:
        job: the job as its handler sees it.
        kind: the kind of the job, with its options.
        args: the arguments of the handler, by name.
        context: put values here for the handler and the middlewares further in; the handler reads them in `job.context`.
    """

    __slots__ = ("args", "context", "job", "kind")

    def __init__(self, job: Job, kind: Kind[..., Any], args: Mapping[str, Any], context: Context) -> None:
        self.job = job
        self.kind = kind
        self.args = args
        self.context = context

    def __repr__(self) -> str:
        return f"<Attempt {self.job.attempt} at job {self.job.id} of kind {self.kind.name!r}>"
