"""Which job and worker the running code belongs to, or which request of a gateway it answers, and who asked.

All are context variables, so that no call has to pass them on; threads and asyncio tasks that a handler starts inherit them.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

import msgspec

Running: TypeAlias = "tuple[JobFacts, str]"
"""The claimed row and the worker's id: set for each job and only looked into when there is a need."""
running_job: ContextVar[Running | None] = ContextVar("leasehold_running_job", default=None)
_worker: ContextVar[str | None] = ContextVar("leasehold_worker", default=None)
_span: ContextVar[tuple[Running | None, str] | None] = ContextVar("leasehold_span", default=None)
LOGGED_COLUMNS = ("job_id", "kind", "attempt", "queue")

_request_id: ContextVar[str | None] = ContextVar("leasehold_request_id", default=None)
_actor: ContextVar[str | None] = ContextVar("leasehold_actor", default=None)


class JobFacts(Protocol):
    """A claimed row, or a dict like it."""

    def __getitem__(self, name: str, /) -> Any:
        """The value of a column."""
        ...


def log_fields() -> dict[str, object]:
    """job_id, kind, attempt, queue and worker_id of the running job; in other code of a worker only worker_id; else empty."""
    running = running_job.get()
    if running is None:
        worker = _worker.get()
        return {} if worker is None else {"worker_id": worker}
    row, worker_id = running
    fields: dict[str, object] = {name: row[name] for name in LOGGED_COLUMNS}
    return fields | {"worker_id": worker_id}


def working_as(worker_id: str) -> AbstractContextManager[None]:
    """Inside the block, and in the tasks that are started there, this worker's code runs."""
    return _setting(_worker, worker_id)


def set_traceparent(traceparent: str) -> None:
    """Make this span the parent of the jobs that the running job enqueues, also of the next one in its chain."""
    _span.set((running_job.get(), traceparent))


def inherited_traceparent() -> str | None:
    """The traceparent for a new job that was given none: the span that the running job has set, else its own one.

    None outside of handlers, and where the running job has none.
    """
    running = running_job.get()
    if running is None:
        return None
    span = _span.get()
    if span is not None and span[0] is running:
        return span[1]
    try:
        extras = running[0]["extras"]
    except KeyError:
        return None
    return None if extras is None else msgspec.json.decode(extras).get("traceparent")


def request_fields() -> dict[str, object]:
    """The fields that each log line of a request has; empty outside of requests."""
    request_id = _request_id.get()
    return {} if request_id is None else {"request_id": request_id}


def current_actor() -> str | None:
    """The name that `acting_as` has set; None where it has set none."""
    return _actor.get()


def answering(request_id: str) -> AbstractContextManager[None]:
    """Log lines inside the block have this request id."""
    return _setting(_request_id, request_id)


def acting_as(actor: str) -> AbstractContextManager[None]:
    """Statements inside the block write this name into the column `actor` of their events."""
    return _setting(_actor, actor)


@contextmanager
def _setting(variable: ContextVar[str | None], value: str) -> Generator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
