"""The request that a gateway answers, and the name of its caller: for log lines and for the events of jobs.

Both are context variables, so that no call has to pass them on. Outside of requests they are not set.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_request_id: ContextVar[str | None] = ContextVar("leasehold_request_id", default=None)
_actor: ContextVar[str | None] = ContextVar("leasehold_actor", default=None)


def request_fields() -> dict[str, object]:
    """The fields that each log line of a request has; empty outside of requests."""
    request_id = _request_id.get()
    return {} if request_id is None else {"request_id": request_id}


def current_actor() -> str | None:
    """The name that `acting_as` has set; None where it has set none."""
    return _actor.get()


@contextmanager
def answering(request_id: str) -> Generator[None]:
    """Log lines inside the block have this request id."""
    token = _request_id.set(request_id)
    try:
        yield
    finally:
        _request_id.reset(token)


@contextmanager
def acting_as(actor: str) -> Generator[None]:
    """Statements inside the block write this name into the column `actor` of their events."""
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)
