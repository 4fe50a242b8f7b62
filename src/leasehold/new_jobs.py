"""Lists of new jobs as the SQL functions take them: flat, checked, encoded."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from leasehold.arguments import encode_args
from leasehold.continuation import ContinueWith, WaitFor
from leasehold.errors import BadInput, InvalidArgs
from leasehold.job_context import inherited_traceparent
from leasehold.new_job import Blocker, Ended, NewJob
from leasehold.unique import UniqueByDefault

if TYPE_CHECKING:
    from leasehold.kind import Kind

Check: TypeAlias = "Callable[[NewJob[Any]], NewJob[Any]]"
"""Fills in what the kind wants and refuses what it does not take."""


def flatten(jobs: Sequence[NewJob[Any]], check: Check) -> tuple[list[NewJob[Any]], list[int]]:
    """Jobs in an order in which those that others wait for come first, and at which index each given one is now.

    Blockers that are new jobs become {"position": n}, which is how the SQL functions name an earlier job of one list.
    """
    flat: list[NewJob[Any]] = []
    places = [_place(job, flat, check) for job in jobs]
    return flat, places


def _place(job: NewJob[Any], flat: list[NewJob[Any]], check: Check) -> int:
    flat.append(with_positions(check(job), flat, check))
    return len(flat) - 1


def with_positions(job: NewJob[Any], flat: list[NewJob[Any]], check: Check) -> NewJob[Any]:
    """The job with its new blockers appended to `flat` and named by position."""
    if not job.blockers:
        return job
    named = [_name(blocker, flat, check) for blocker in job.blockers]
    return msgspec.structs.replace(job, blockers=cast("Any", named))


def _name(blocker: Blocker, flat: list[NewJob[Any]], check: Check) -> int | dict[str, Any]:
    if isinstance(blocker, Ended):
        named = _name(blocker.chain, flat, check)
        return (named if isinstance(named, dict) else {"chain": named}) | {"until": "ended"}
    return {"position": _place(blocker, flat, check) + 1} if isinstance(blocker, NewJob) else blocker


def check_fields(job: NewJob[Any]) -> NewJob[Any]:
    """The job with encoded metadata, in the trace of the job that makes it. Raises BadInput for times without a zone."""
    for name in ("run_at", "deadline"):
        time: datetime | timedelta | None = getattr(job, name)
        if isinstance(time, datetime) and time.tzinfo is None:
            raise BadInput(f"{name} must have a time zone, not {time.isoformat()}; use datetime.now(UTC)")
    if isinstance(job.deadline, timedelta) and job.deadline <= timedelta(0):
        raise BadInput(f"deadline must be more than 0 seconds from now, not {job.deadline}")
    for name in ("delay", "timeout"):
        seconds: float | None = getattr(job, name)
        if seconds is not None and not math.isfinite(seconds):
            raise BadInput(f"{name} must be a number of seconds, not {seconds}")
    if job.traceparent is None and (inherited := inherited_traceparent()) is not None:
        job = msgspec.structs.replace(job, traceparent=inherited)
    if job.metadata is None or isinstance(cast("object", job.metadata), msgspec.Raw):
        return job
    return msgspec.structs.replace(job, metadata=cast("Any", msgspec.Raw(encode_args(job.metadata, "metadata"))))


_encoder = msgspec.json.Encoder(order=None)


def check_job(job: NewJob[Any], kind: Kind[..., Any] | None) -> NewJob[Any]:
    """The job with what its kind wants and its args encoded. Raises InvalidArgs, BadInput."""
    job = check_fields(job)
    if kind is not None:
        job = kind.with_defaults(job)
    if isinstance(job.args, msgspec.Raw):
        if kind is not None:
            kind.decode(bytes(job.args))
        return job
    encoded = kind.encode(dict(job.args)) if kind is not None else encode_args(job.args, "args")
    return msgspec.structs.replace(job, args=msgspec.Raw(encoded))


def encode_continuation(end: ContinueWith[Any] | None, started: Sequence[NewJob[Any]], check: Check) -> str:
    """What `leasehold.continue_jobs` takes: `jobs` that begin chains, and `next`. Raises InvalidArgs, BadInput."""
    flat, _ = flatten([*started, *(end.jobs if end is not None else ())], check)
    document: dict[str, Any] = {"jobs": flat}
    if end is not None:
        waits_for = (*(end.next.blockers or ()), *end.blockers)
        joined = check(msgspec.structs.replace(end.next, blockers=waits_for or None))
        if isinstance(joined.unique, UniqueByDefault):
            joined = msgspec.structs.replace(joined, unique=None)
        document["next"] = with_positions(joined, flat, check)
    return encode_document(document)


def encode_wait(wait: WaitFor, check: Check) -> str:
    """What `leasehold.block_jobs` takes. Raises InvalidArgs, BadInput: also where there is nothing to wait for, since such a
    job would run again at once, and so for ever."""
    if not wait.blockers and not wait.delay:
        raise BadInput("job.wait_for was given no chains and no delay: there is nothing to wait for")
    flat: list[NewJob[Any]] = []
    waiting = with_positions(NewJob(kind="-", blockers=wait.blockers), flat, check)
    return encode_document({"jobs": flat, "blockers": waiting.blockers, "delay": wait.delay})


def encode_jobs(jobs: Sequence[NewJob[Any]]) -> str:
    """The JSON document that `leasehold.enqueue_jobs` takes. Raises InvalidArgs."""
    return encode_document(jobs)


def encode_document(document: object) -> str:
    """JSON of flat jobs in whatever holds them. Raises InvalidArgs."""
    try:
        return _encoder.encode(document).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgs(f"a job cannot be written as JSON: {error}") from error
