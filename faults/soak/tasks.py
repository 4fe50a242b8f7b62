"""The tasks. Each execution writes into the ledger that it has begun, and how it has ended: one that was killed has no end."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownParameterType=false

from __future__ import annotations

import os
import time
from typing import Any
from uuid import uuid4

from django.db import connection

from leasehold.django.terms import tasks

INSERT = "insert into soak_ledger (task_id, attempt, nonce, pid, phase) values (%s, %s, %s, %s, %s)"
task: Any = tasks.task


class Execution:
    """One run of a task."""

    def __init__(self, context: Any) -> None:
        self._of = (int(context.task_result.id), context.attempt, uuid4())
        self.note("started")

    def note(self, phase: str) -> None:
        """Write it down, at once and whatever comes of the task."""
        with connection.cursor() as cursor:
            cursor.execute(INSERT, [*self._of, os.getpid(), phase])

    def sleep(self, seconds: float) -> str:
        """A task that does nothing but wait."""
        time.sleep(seconds)
        self.note("completed")
        return str(self._of[2])


@task(takes_context=True)
def quick(context: Any, seconds: float = 0.02) -> str:
    """Most of the mix."""
    return Execution(context).sleep(seconds)


@task(takes_context=True)
def medium(context: Any, seconds: float = 0.2) -> str:
    """As long as a request to somebody else."""
    return Execution(context).sleep(seconds)


@task(takes_context=True)
def slow(context: Any, seconds: float = 1.5) -> str:
    """Still far from the end of its lease."""
    return Execution(context).sleep(seconds)


@task(takes_context=True)
def slow_hold(context: Any, seconds: float = 8.0) -> str:
    """Long enough to be killed in."""
    return Execution(context).sleep(seconds)


@task(takes_context=True)
def flaky_once(context: Any) -> str:
    """Fails at first."""
    execution = Execution(context)
    if context.attempt < 2:
        execution.note("failed")
        raise RuntimeError("the first attempt fails")
    execution.note("completed")
    return "ok"


@task(takes_context=True)
def doomed(context: Any) -> None:
    """Fails always."""
    Execution(context).note("failed")
    raise RuntimeError("all attempts fail")
