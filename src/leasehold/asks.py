"""What clients ask of the database: which SQL function, with which values, and what its answer means. Pure.

Both clients come in here, the awaited one and `leasehold.sync`; neither decides any of this itself. `Ask` is one call of a SQL
function, and how to read what it answers. What everybody asks, to enqueue jobs, is `JobBatch` of `leasehold.jobs.encoding`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from inspect import iscoroutine, iscoroutinefunction
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

import msgspec

from leasehold import validation
from leasehold.database.calls import from_row
from leasehold.drivers import STYLES, AnsweredRow, Parameters, Style, call_text, parameters
from leasehold.errors import BadInput, ChainCancelled, ChainFailed, UnknownJob, WaitTimeout
from leasehold.jobs.arguments import encode_args
from leasehold.jobs.catalogue import typed_output
from leasehold.jobs.encoding import Find, JobBatch, check_job, encode_continuation, refused_job
from leasehold.jobs.endings import ContinueWith, seconds_of
from leasehold.jobs.kind import Kind
from leasehold.jobs.new_job import JobOptions, NewJob
from leasehold.observability.observers import Observers
from leasehold.records.jobs import ChainRecord, JobRecord, TimelineEntry

if TYPE_CHECKING:
    from leasehold.app import App

T = TypeVar("T")
AWAITED = "progress is called and not awaited; give it a function that is no `async def`"

Rows: TypeAlias = "Sequence[AnsweredRow]"


class Ask(msgspec.Struct, Generic[T], frozen=True):
    """What is asked.

    Attributes:
        function: of the schema leasehold.
        values: of its parameters, in their order.
        read: makes the result of its rows, or raises.
    """

    function: str
    values: tuple[Any, ...]
    read: Callable[[Rows], T]


def first_value(rows: Rows) -> Any:
    """The first column of the first row; None where there is no row."""
    return next(iter(rows[0].values())) if rows else None


def first_text(rows: Rows) -> str:
    """As `first_value`, of a function that answers with a word."""
    return str(first_value(rows))


def first_ids(rows: Rows) -> list[int]:
    """As `first_value`, of a function that answers with ids."""
    return [*first_value(rows)]


def checked_id(given: int) -> int:
    """The id of a job or chain as it goes to the database. Raises BadInput for what no id can be."""
    value = cast("object", given)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadInput(f"an id is a whole number, not {given!r:.100}")
    if not -validation.LARGEST_BIGINT <= value <= validation.LARGEST_BIGINT:
        raise BadInput(
            f"an id is at most {validation.LARGEST_BIGINT}, not {'one of many more digits' if value.bit_length() > 200 else value}"
        )
    return value


def checked_ids(given: Sequence[int]) -> list[int]:
    """As `checked_id`, for each of them."""
    return [checked_id(each) for each in given]


def checked_before(given: int | None) -> int | None:
    """As `checked_id`, for a page that may be the first."""
    return None if given is None else checked_id(given)


def get_job(job_id: int) -> Ask[JobRecord]:
    """The job. Raises BadInput, UnknownJob."""

    def read(rows: Rows) -> JobRecord:
        if not rows:
            raise UnknownJob(f"there is no job {job_id}")
        return from_row(JobRecord, rows[0])

    return Ask("get_job", (checked_id(job_id),), read)


def get_timeline(job_id: int) -> Ask[list[TimelineEntry]]:
    """What happened to the job, oldest first; nothing where there is no such job. Raises BadInput."""
    return Ask("get_job_timeline", (checked_id(job_id),), lambda rows: [from_row(TimelineEntry, row) for row in rows])


def cancel_job(job_id: int, reason: str | None) -> Ask[str]:
    """The state that the job was in. Raises BadInput, UnknownJob, WrongState."""
    validation.check_reason(reason)
    return Ask("cancel_job", (checked_id(job_id), reason), first_text)


def retry_job(job_id: int) -> Ask[str]:
    """The new state of the job. Raises BadInput, UnknownJob, WrongState, UniqueConflict."""
    return Ask("retry_job", (checked_id(job_id),), first_text)


def get_chain(chain_id: int) -> Ask[ChainRecord]:
    """The chain. Raises BadInput, UnknownJob."""

    def read(rows: Rows) -> ChainRecord:
        if not rows:
            raise UnknownJob(f"there is no chain {chain_id}")
        return from_row(ChainRecord, rows[0])

    return Ask("get_chain", (checked_id(chain_id),), read)


def list_chains(
    state: str | None, kind: str | None, queue: str | None, before_id: int | None, page_size: int
) -> Ask[list[ChainRecord]]:
    """A page of chains."""
    return Ask("list_chains", (state, kind, queue, checked_before(before_id), page_size), _chains)


def list_chain_jobs(chain_id: int, after_position: int, page_size: int) -> Ask[list[JobRecord]]:
    """A page of the jobs of a chain; empty also where there is no such chain."""
    return Ask("list_chain_jobs", (checked_id(chain_id), after_position, page_size), _jobs)


def list_blocked_jobs(chain_id: int, after_id: int, page_size: int) -> Ask[list[JobRecord]]:
    """A page of the jobs that wait for a chain."""
    return Ask("list_blocked_jobs", (checked_id(chain_id), checked_id(after_id), page_size), _jobs)


def complete_chain(
    chain_id: int, output: Any, continue_with: NewJob[Any] | ContinueWith[Any] | None, find: Find
) -> Ask[list[int]]:
    """The ids of the new jobs. Raises BadInput, InvalidArgs, UnknownKind; UnknownJob, WrongState."""
    end = ContinueWith(continue_with) if isinstance(continue_with, NewJob) else continue_with
    continuation = None if end is None else encode_continuation(end, (), lambda job: check_job(job, find(job.kind)))
    encoded = None if output is None else encode_args(output, "output").decode()
    return Ask("complete_chain", (checked_id(chain_id), encoded, continuation), first_ids)


def cancel_chain(chain_id: int, reason: str | None) -> Ask[str]:
    """The state that the open job was in."""
    validation.check_reason(reason)
    return Ask("cancel_chain", (checked_id(chain_id), reason), first_text)


def delete_chain(chain_id: int, cascade: bool) -> Ask[list[int]]:
    """The ids of the chains that were deleted."""
    return Ask("delete_chain", (checked_id(chain_id), cascade), first_ids)


def watch_chain(chain_id: int, seconds: float | None) -> Ask[AnsweredRow | None]:
    """The row of the chain where it has ended, or is none. Else its end is notified for this time."""
    return Ask("watch_chains", ([checked_id(chain_id)], seconds), _only)


def wait_seconds(timeout: float | timedelta | None) -> float | None:
    """How long to wait; None: without end. Raises BadInput."""
    return None if timeout is None else seconds_of(timeout, "timeout")


def ended_chain(chain_id: int, row: Any, seconds: float | None) -> ChainRecord:
    """The chain of a row of watch_chains; None is one that is open still. Raises WaitTimeout, UnknownJob."""
    if row is None:
        raise WaitTimeout(f"chain {chain_id} is still open after {seconds} s")
    if row["state"] is None:
        raise UnknownJob(f"there is no chain {chain_id}")
    return from_row(ChainRecord, row)


def check_kind(kind: object) -> None:
    """Refuse what is no kind, where the output is to be read as what a kind promises. Raises BadInput."""
    if kind is not None and not isinstance(kind, Kind):
        raise validation.refusal("kind", "a kind, as @app.kind makes it of a function", kind)


def output_of(chain: ChainRecord, kind: Kind[..., Any] | None) -> Any:
    """What a chain that has ended has brought. Raises ChainFailed, ChainCancelled; BadInput where it does not fit `kind`."""
    if chain.state != "completed":
        raise _ended_without_output(chain)
    return chain.output if kind is None else typed_output(kind, chain.output)


def _ended_without_output(chain: ChainRecord) -> ChainFailed | ChainCancelled:
    stored: object = chain.error
    error = cast("dict[str, Any]", stored) if isinstance(stored, dict) else {}
    said = f"{error.get('type', 'error')}: {error.get('message', '')}"
    where = f"job {chain.job_id} ({chain.job_kind})"
    if chain.state == "cancelled":
        return ChainCancelled(
            f"chain {chain.chain_id} was cancelled: {error.get('message', '')} at {where}", chain=chain
        )
    return ChainFailed(f"chain {chain.chain_id} failed at {where}: {said}", chain=chain)


def _only(rows: Rows) -> AnsweredRow | None:
    return rows[0] if rows else None


def _chains(rows: Rows) -> list[ChainRecord]:
    return [from_row(ChainRecord, row) for row in rows]


def _jobs(rows: Rows) -> list[JobRecord]:
    return [from_row(JobRecord, row) for row in rows]


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


def check_progress(progress: object) -> None:
    """Refuse what cannot be called, or has to be awaited. Raises BadInput."""
    if progress is not None and iscoroutinefunction(validation.check_function("progress", progress)):
        raise BadInput(AWAITED)


def report_progress(progress: Callable[[int], object] | None, sent: int) -> None:
    """Say how many jobs were sent. Raises BadInput where that is to be awaited, and what `progress` raises."""
    answer = None if progress is None else progress(sent)
    if iscoroutine(answer):
        answer.close()
        raise BadInput(AWAITED)


def observers_of(app: App | None) -> Observers:
    """Those of the app; without one, some that nobody else has. Raises BadInput for what is no app, such as "shop:app"."""
    if app is None:
        return Observers()
    if not isinstance(observers := getattr(app, "observers", None), Observers):
        raise BadInput(f"app must be a leasehold.App, not {app!r:.100}; import it: from shop import app")
    return observers


def kind_in(app: App | None, name: str) -> Kind[..., Any] | None:
    """The kind as workers have it; None without an app. Raises UnknownKind."""
    if app is None:
        return None
    from leasehold.app.registry import find_kind  # noqa: PLC0415  who has an app has loaded it; others need not

    return find_kind(app, name)


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
    values = JobBatch(jobs, partial(kind_in, app)).values(notify=notify)
    return Statement(call_text("enqueue_jobs", len(values), style=style), parameters(values, style))
