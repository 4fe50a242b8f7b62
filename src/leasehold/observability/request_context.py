"""On whose behalf code runs, where a gateway answers a request: for log lines and for the events of jobs.

A context variable, so that nothing has to be handed through every call, and unset everywhere else.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_request_id: ContextVar[str | None] = ContextVar("leasehold_request_id", default=None)
_actor: ContextVar[str | None] = ContextVar("leasehold_actor", default=None)


def request_fields() -> dict[str, object]:
    """What each log line of a request carries; nothing outside of one."""
    request_id = _request_id.get()
    return {} if request_id is None else {"request_id": request_id}


def current_actor() -> str | None:
    """In whose name statements are made; None: in nobody's in particular."""
    return _actor.get()


@contextmanager
def answering(request_id: str) -> Generator[None]:
    """Around one request."""
    token = _request_id.set(request_id)
    try:
        yield
    finally:
        _request_id.reset(token)


@contextmanager
def acting_as(actor: str) -> Generator[None]:
    """Events that statements write in here have this name in their column `actor`."""
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)
