"""Lists of new jobs as the SQL functions take them: flat, checked and encoded as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeAlias, cast

import msgspec

from leasehold import validation
from leasehold.drivers import AnsweredRow
from leasehold.errors import BadInput, InvalidArgs
from leasehold.jobs.arguments import encode_args
from leasehold.jobs.endings import ContinueWith, WaitFor
from leasehold.jobs.kind import Kind
from leasehold.jobs.new_job import Blocker, Ended, NewJob, Unique, UniqueByDefault
from leasehold.observability.context import inherited_traceparent
from leasehold.records.jobs import EnqueuedJob

Find: TypeAlias = "Callable[[str], Kind[..., Any] | None]"
"""The kind of this name, or a default handler; None where there is no app. Raises UnknownKind."""
Check: TypeAlias = "Callable[[NewJob[Any]], NewJob[Any]]"
"""Fills in the defaults of the kind, and refuses args that its handler does not take."""
FEW, MOST_IN_PART, MOST_BYTES_IN_PART = 50, 10_000, 64_000_000


class JobBatch:
    """Jobs that go in one statement.

    Args:
        jobs: as they were given.
        find: the kind whose defaults are filled in, and whose handler takes the args. Where there is none, or a default handler
            for any name, the catalogue of the database may know what the kind wants.

    Attributes:
        flat: the jobs with their new blockers, each after its blockers, as they are written.
        is_checked: whether all their kinds are known here by name (a default handler is called `*`), so that the database need not
            look at its catalogue.
    """

    def __init__(self, jobs: Sequence[NewJob[Any]], find: Find) -> None:
        self.flat: list[NewJob[Any]] = []
        self._places = flatten(jobs, self.flat, lambda job: check_job(job, find(job.kind)))
        names = {job.kind for job in self.flat}
        self.is_checked = all((kind := find(name)) is not None and kind.name == name for name in names)

    @property
    def queues(self) -> set[str] | None:
        """Where workers are to look; None where the database may choose, which wakes them itself then."""
        if not self.is_checked and any(job.queue is None for job in self.flat):
            return None
        return {job.queue or "default" for job in self.flat}

    def values(self, *, notify: bool) -> tuple[Any, ...]:
        """What `leasehold.enqueue_jobs` takes; it answers for each of `flat`. `notify`: idle workers are woken at the commit."""
        return (encode_document(self.flat), *options_of(notify=notify, is_checked=self.is_checked))

    def given(self, made: Sequence[EnqueuedJob]) -> list[EnqueuedJob]:
        """Those of the answers that belong to the jobs that were given, in their order."""
        return [made[place] for place in self._places]


def options_of(*, notify: bool, is_checked: bool) -> tuple[bool, ...]:
    """What enqueue_jobs takes after the jobs: a list that is checked here is not held against the catalogue again."""
    return (notify, False) if is_checked else (notify,)


def read_enqueued(rows: Iterable[AnsweredRow]) -> list[EnqueuedJob]:
    """The answer of enqueue_jobs."""
    return [EnqueuedJob(row["job_id"], row["is_new"], row["outcome"]) for row in rows]


def in_parts(jobs: Sequence[NewJob[Any]]) -> Iterator[Sequence[NewJob[Any]]]:
    """A list in parts of which each fits into one statement: into its time, and into the 256 MB that a jsonb may have."""
    if len(jobs) <= FEW:
        yield jobs
        return
    part, size = list[NewJob[Any]](), 0
    for job in jobs:
        args: Any = job.args
        length = len(memoryview(args) if isinstance(args, msgspec.Raw) else encode_args(args, "args"))
        if part and (len(part) == MOST_IN_PART or size + length > MOST_BYTES_IN_PART):
            yield part
            part, size = [], 0
        part.append(job)
        size += length
    yield part


def flatten(jobs: Sequence[NewJob[Any]], flat: list[NewJob[Any]], check: Check) -> list[int]:
    """Append the jobs to `flat`, each after its new blockers, and return where they are.

    A blocker that is a new job becomes {"position": n}: so the SQL functions name an earlier job of the list.
    """
    places: list[int] = []
    for job in jobs:
        if not isinstance(cast("object", job), NewJob):
            raise refused_job("new jobs are made by kind.new(...)", job)
        placed = with_positions(check(job), flat, check)
        places.append(len(flat))
        flat.append(placed)
    return places


def with_positions(job: NewJob[Any], flat: list[NewJob[Any]], check: Check) -> NewJob[Any]:
    """The job with its new blockers appended to `flat` and named by position."""
    if not job.blockers:
        return job
    named = [_name(_keyed(blocker, job, number), flat, check) for number, blocker in enumerate(job.blockers, 1)]
    return msgspec.structs.replace(job, blockers=cast("Any", named))


def _keyed(blocker: Blocker, job: NewJob[Any], number: int) -> Blocker:
    """With an idempotency key of its own where the job has one: who sends the job again sends its new blockers again."""
    chain = blocker.chain if isinstance(blocker, Ended) else blocker
    if job.idempotency_key is None or not isinstance(chain, NewJob) or chain.idempotency_key is not None:
        return blocker
    chain = msgspec.structs.replace(chain, idempotency_key=f"{job.idempotency_key} #{number}")
    return Ended(chain) if isinstance(blocker, Ended) else chain


def _name(blocker: Blocker, flat: list[NewJob[Any]], check: Check) -> int | dict[str, Any]:
    if isinstance(blocker, Ended):
        named = _name(blocker.chain, flat, check)
        return (named if isinstance(named, dict) else {"chain": named}) | {"until": "ended"}
    if isinstance(blocker, NewJob):
        return {"position": flatten([blocker], flat, check)[0] + 1}
    if not isinstance(cast("object", blocker), int) or isinstance(blocker, bool):
        raise refused_job("blockers takes ids of chains and jobs made by kind.new(...)", blocker)
    return blocker


def refused_job(takes: str, value: object) -> BadInput:
    """The error for a value that is given as a job and is not one."""
    name = getattr(value, "name", None)
    is_kind = isinstance(name, str) and callable(getattr(value, "new", None))
    return BadInput(f"{takes}, not {value!r:.100}" + (f"; did you mean {name}.new(…)?" if is_kind else ""))


def check_fields(job: NewJob[Any]) -> NewJob[Any]:
    """The job with its times in seconds, its metadata encoded, and the trace of the job that makes it.

    Raises:
        BadInput: a value has another type, or a time has no zone; the database would refuse it without naming the field.
        InvalidArgs: JSON cannot hold the metadata.
    """
    for name in _TEXTS:
        if (value := getattr(job, name)) is not None and not isinstance(value, str):
            raise validation.refusal(name, "text", value)
    if job.priority is not None:
        validation.check_integer("priority", job.priority)
    if job.max_attempts is not None:
        validation.check_integer("max_attempts", job.max_attempts, 1, validation.MOST_ATTEMPTS)
    if job.check_args is not True and not isinstance(cast("object", job.check_args), bool):
        raise validation.refusal("check_args", "True or False", job.check_args)
    if job.unique is not None and not isinstance(cast("object", job.unique), Unique):
        raise validation.refusal("unique", "a Unique", job.unique)
    if job.blockers is not None and not isinstance(cast("object", job.blockers), (list, tuple)):
        job = msgspec.structs.replace(job, blockers=validation.items("blockers", job.blockers, "chains and jobs"))
    if not (job.delay is job.timeout is job.run_at is job.deadline is None):
        job = _check_times(job)
    if job.traceparent is None and (inherited := inherited_traceparent()) is not None:
        job = msgspec.structs.replace(job, traceparent=inherited)
    if job.metadata is None or isinstance(cast("object", job.metadata), msgspec.Raw):
        return job
    return msgspec.structs.replace(job, metadata=cast("Any", msgspec.Raw(encode_args(job.metadata, "metadata"))))


_TEXTS = tuple(field.name for field in msgspec.structs.fields(NewJob) if field.type in (str, str | None))


def _check_times(job: NewJob[Any]) -> NewJob[Any]:
    changes: dict[str, Any] = {}
    if job.run_at is not None:
        _check_moment("run_at", job.run_at, "a datetime with a time zone")
    if job.delay is not None:
        seconds = validation.seconds("delay", job.delay)
        if seconds is not job.delay:
            changes["delay"] = seconds
        if not 0 <= seconds <= validation.LONGEST_TIME:
            raise BadInput(f"delay must be from 0 seconds to 100 years, not {seconds}")
    if job.timeout is not None:
        seconds = validation.seconds("timeout", job.timeout)
        if seconds is not job.timeout:
            changes["timeout"] = seconds
        if not 0 < seconds <= validation.LONGEST_TIME:
            raise BadInput(f"timeout must be more than 0 seconds and at most 100 years, not {seconds}")
    if isinstance(job.deadline, datetime):
        _check_moment("deadline", job.deadline, _DEADLINE)
    elif job.deadline is not None:
        seconds = validation.seconds("deadline", job.deadline, _DEADLINE)
        if not 0 < seconds <= validation.LONGEST_TIME:
            raise BadInput(f"deadline must be more than 0 seconds from now and at most 100 years, not {job.deadline}")
        if not isinstance(job.deadline, timedelta):
            changes["deadline"] = timedelta(seconds=seconds)
    return msgspec.structs.replace(job, **changes) if changes else job


_DEADLINE = "a datetime with a time zone, a number of seconds or a timedelta"


def _check_moment(field: str, time: object, takes: str) -> None:
    if not isinstance(time, datetime):
        raise validation.refusal(field, takes, time)
    if time.tzinfo is None:
        raise BadInput(f"{field} must have a time zone, not {time.isoformat()}; use datetime.now(UTC)")


_encoder = msgspec.json.Encoder(order=None)


def check_job(job: NewJob[Any], kind: Kind[..., Any] | None) -> NewJob[Any]:
    """The job with the defaults of its kind, and its args encoded. Raises InvalidArgs, BadInput."""
    job = check_fields(job)
    if isinstance(job.args, msgspec.Raw):
        if kind is not None:
            if job.check_args:
                kind.decode(bytes(job.args))
            job = kind.with_defaults(job)
        return job
    if not isinstance(cast("object", job.args), Mapping):
        raise InvalidArgs(f"args must be a mapping of names to values (a JSON object), not {job.args!r:.100}")
    encoded = kind.encode(dict(job.args)) if kind is not None and job.check_args else encode_args(job.args, "args")
    job = msgspec.structs.replace(job, args=msgspec.Raw(encoded))
    return job if kind is None else kind.with_defaults(job)


def encode_continuation(end: ContinueWith[Any] | None, started: Sequence[NewJob[Any]], check: Check) -> str:
    """The JSON that `leasehold.continue_jobs` takes: `jobs` that begin chains, and `next`. Raises InvalidArgs, BadInput."""
    flat: list[NewJob[Any]] = []
    flatten([*started, *(end.jobs if end is not None else ())], flat, check)
    document: dict[str, Any] = {"jobs": flat}
    if end is not None:
        if not isinstance(cast("object", end.next), NewJob):
            raise refused_job("continue_with takes a job made by kind.new(...)", end.next)
        waits_for = (*(end.next.blockers or ()), *end.blockers)
        joined = check(msgspec.structs.replace(end.next, blockers=waits_for or None))
        if isinstance(joined.unique, UniqueByDefault):
            joined = msgspec.structs.replace(joined, unique=None)
        document["next"] = with_positions(joined, flat, check)
    return encode_document(document)


def encode_wait(wait: WaitFor, check: Check) -> str:
    """The JSON that `leasehold.block_jobs` takes.

    Raises:
        InvalidArgs, BadInput: a new job is refused.
        BadInput: there is nothing to wait for; the job would run again at once, for ever.
    """
    if not wait.blockers and not wait.delay:
        raise BadInput("job.wait_for was given no chains and no delay: there is nothing to wait for")
    flat: list[NewJob[Any]] = []
    waiting = with_positions(NewJob(kind="-", blockers=wait.blockers), flat, check)
    return encode_document({"jobs": flat, "blockers": waiting.blockers, "delay": wait.delay})


def encode_document(document: object) -> str:
    """JSON of a value that holds flat jobs. Raises InvalidArgs."""
    try:
        return _encoder.encode(document).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgs(f"a job cannot be written as JSON: {error}") from error
