"""`leasehold.enqueue_statement`: the statement that enqueues, for a driver that leasehold does not know."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from leasehold import validation
from leasehold.app import App
from leasehold.app.registry import find_kind, knows
from leasehold.asks.enqueueing import JobBatch, many_jobs
from leasehold.drivers.statements import STYLES, Parameters, Style, call_text, parameters
from leasehold.jobs.encoding import check_job
from leasehold.jobs.new_job import NewJob


class Statement(NamedTuple):
    """SQL and its values, as a driver takes them."""

    text: str
    parameters: Parameters


def enqueue_statement(
    job: NewJob[Any] | Sequence[NewJob[Any]],
    *,
    style: Style = "numeric_dollar",
    notify: bool = True,
    app: App | None = None,
) -> Statement:
    """The statement that enqueues a job, or several, for any driver: run it in your transaction.

    It answers with a row (job_id, is_new, outcome) for each job in its order, after one for each of its new blockers. The
    values are text and a boolean. Errors of Postgres come as your driver raises them: LH001 for a job that is refused, LH006
    for a unique job that is there already.

    Args:
        job: made by kind.new(...), so with the defaults of its kind.
        style: how your driver writes places for values, by the names of DB-API: `numeric_dollar` for `$1`, `format` for
            `%s`, `pyformat` for `%(p1)s`, `named` for `:p1`, `numeric` for `:1`, `qmark` for `?`. With `pyformat` and
            `named` the values are a dict, else a tuple.
        notify: wake an idle worker at the commit.
        app: checks a job that was made by name, as `NewJob(kind="send")`.

    Raises:
        BadInput, InvalidArgs, UnknownKind: the job is refused; there is no such style.

    Example:
        text, values = enqueue_statement(send.new(order=42), style="format")
        cursor.execute(text, values)
        job_id = cursor.fetchone()[0]
    """
    validation.check_choice("style", style, STYLES)
    jobs = many_jobs([job] if isinstance(job, NewJob) else job)
    ask = JobBatch(jobs, partial(checked_for, app), lambda kind: app is not None and knows(app, kind)).ask(
        notify=notify
    )
    return Statement(call_text(ask.function, len(ask.values), style=style), parameters(ask.values, style))


def checked_for(app: App | None, job: NewJob[Any]) -> NewJob[Any]:
    """The job as it is sent. Raises InvalidArgs, UnknownKind, BadInput."""
    return check_job(job, None if app is None else find_kind(app, job.kind))
