"""Requests that make jobs, and what `Prefer: wait` and `Idempotency-Key` mean there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from hashlib import blake2b
from typing import Annotated, Any, ClassVar, Literal, cast

import msgspec
from msgspec import Meta

from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import Attempts, Delay, DryRun, Id, Integer, Key, Metadata, Name, Page, Seconds
from leasehold.gateway.http.problems import (
    ARGS_TOO_LARGE,
    ENQUEUE_ERRORS,
    IDEMPOTENCY_MISMATCH,
    OVERLOADED,
    UNKNOWN_JOB,
    Offence,
    Refusal,
    refuse_field,
)
from leasehold.gateway.http.reading import RequestLimits, exceeds_depth, find_offence, offence_of
from leasehold.gateway.routing.routes import Call, NoParameters, Reply, Routes, Success
from leasehold.gateway.routing.services import GatewayServices, chain_within, preferred_wait
from leasehold.jobs.new_job import Blocker, NewJob, Unique, ended
from leasehold.records.jobs import EnqueuedJob, KeyedJob, Outcome, State
from leasehold.validation import LONGEST_KEY

NO_ARGS = msgspec.Raw(b"{}")


class BlockerBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chain to wait for: until it has completed, or until it has ended in any way."""

    chain: Id
    until: Literal["completed", "ended"] = "completed"


Blockers = Annotated[list[Id | BlockerBody], Meta(max_length=10_000)]


class JobBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job to enqueue. What is left out or null is as its kind says, else the default."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "not": {
            "required": ["delay", "run_at"],
            "properties": {"delay": {"not": {"type": "null"}}, "run_at": {"not": {"type": "null"}}},
        }
    }

    kind: Name
    args: Annotated[
        msgspec.Raw, Meta(description="Any JSON object.", extra_json_schema={"type": "object", "default": {}})
    ] = msgspec.field(default_factory=lambda: NO_ARGS)
    queue: Name | None = None
    priority: (
        Annotated[Integer, Meta(description="Higher goes first; that of its kind if not given, else 0.")] | None
    ) = None
    run_at: Annotated[datetime, Meta(tz=True, description="Not before this time.")] | None = None
    delay: Annotated[Delay, Meta(description="Not before this many seconds from now.")] | None = None
    key: Annotated[Key, Meta(description="What the job is about; one active job per key.")] | None = None
    key_group: Annotated[Key, Meta(description="What limits of each group count by: a tenant, a host.")] | None = None
    max_attempts: Attempts | None = None
    timeout: Annotated[Seconds, Meta(description="Seconds that one attempt may run.")] | None = None
    deadline: Annotated[datetime, Meta(tz=True, description="The job fails then, whatever state it is in.")] | None = (
        None
    )
    blockers: (
        Annotated[
            Blockers,
            Meta(description="Chains to wait for: ids of their first jobs, which have to complete, or objects."),
        ]
        | None
    ) = None
    unique: Annotated[Unique, Meta(description="Which other jobs count as this one.")] | None = None
    traceparent: Annotated[str, Meta(max_length=200, description="W3C trace context.")] | None = None
    idempotency_key: (
        Annotated[Key, Meta(description="A second job with this key is not written, whatever it says.")] | None
    ) = None
    metadata: dict[str, Any] | None = None
    check_args: (
        Annotated[bool, Meta(description="False: take args that do not fit the schema of the kind; true if not given.")]
        | None
    ) = None


class EnqueuedBody(msgspec.Struct, frozen=True):
    """A job that is durably written. `is_new` is false if its idempotency or unique key was known: `id` is that job's."""

    id: int
    is_new: bool
    outcome: Outcome = "created"


JobBatch = Annotated[list[JobBody], Meta(min_length=1, max_length=1000)]


class ResultBody(EnqueuedBody, frozen=True):
    """The job, and how the chain that it begins stands: `state` is open, completed, failed or cancelled."""

    state: Literal["open", "completed", "failed", "cancelled"] = "open"
    output: Any = None
    error: Any = None


class KeyFilter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which subjects: the keys of all jobs that match, finished or not.

    `state` is that of the newest of them for each key: all shops whose last crawl failed.
    """

    queue: Name | None = None
    kind: Name | None = None
    metadata: Annotated[Metadata, Meta(description="A JSON object that is part of theirs.")] | None = None
    state: State | None = None
    keys: Annotated[list[Key], Meta(max_length=10_000, description="Only these.")] | None = None


class KeysBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job to enqueue for each subject of a filter."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "allOf": [
            {"properties": {"job": {"properties": {"key": {"type": "null"}, "idempotency_key": {"type": "null"}}}}}
        ]
    }

    job: Annotated[JobBody, Meta(description="Without a key: it gets that of the subject.")]
    filter: KeyFilter = KeyFilter()
    after_key: Annotated[Key, Meta(description="Only later keys: `next` of the answer before.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=10_000, description="At most so many keys.")] = 1000
    dry_run: DryRun = False


ARGS_DECODER = msgspec.json.Decoder(dict[str, Any])


def new_job(body: JobBody, limits: RequestLimits, path: str = "$") -> NewJob:
    """The job that the body asks for. `path` is where the body stands in the request.

    The args are read here, and sent on as the very bytes that came.
    """
    read_args(bytes(body.args), limits, f"{path}.args")
    if body.delay is not None and body.run_at is not None:
        raise refuse_field(f"{path}.delay", "Give delay or run_at, not both")
    fields = msgspec.structs.asdict(body)  # which are named as those of NewJob
    fields["check_args"] = body.check_args is not False
    if body.blockers is not None:
        fields["blockers"] = [read_blocker(each) for each in body.blockers]
    return NewJob(**fields)


def read_blocker(blocker: int | BlockerBody) -> Blocker:
    """A blocker as the client takes it."""
    if isinstance(blocker, int):
        return blocker
    return ended(blocker.chain) if blocker.until == "ended" else blocker.chain


def read_args(args: bytes, limits: RequestLimits, path: str) -> dict[str, Any]:
    """Refuses args that are no JSON object, too large, or beyond what a worker can read."""
    if len(args) > limits.args_bytes:
        raise Refusal(ARGS_TOO_LARGE, f"{path} takes {len(args)} bytes, at most {limits.args_bytes} fit.")
    try:
        return ARGS_DECODER.decode(args)
    except msgspec.ValidationError as error:
        offence = find_offence(args, path) or offence_of(error, path)
        raise refuse_field(offence.path, offence.message) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        offence = find_offence(args, path) or Offence(path, "It cannot be read")
        raise refuse_field(offence.path, offence.message) from None


def read_part(text: str, limits: RequestLimits, path: str) -> dict[str, Any]:
    """A JSON object that args are to contain. Refuses what no args can contain."""
    document = text.encode("utf-8", "surrogatepass")
    if exceeds_depth(document, limits.json_depth):
        raise refuse_field(path, f"It is nested more than {limits.json_depth} levels deep")
    part = read_args(document, limits, path)
    if offence := find_offence(document, path):
        raise refuse_field(offence.path, offence.message)
    return part


IDEMPOTENCY_KEY = "Idempotency-Key"
PREFER = "Prefer"
NO_KEY = "Which jobs this makes depends on when it is called, so it takes no key; give the job `unique` instead"


WAITED = (
    Success(200, "Asked to wait: the chain that the job begins has ended.", ResultBody),
    Success(202, "Asked to wait: the chain that the job begins is still open.", ResultBody),
)
routes = Routes("jobs")


@routes(
    "POST",
    "/api/jobs",
    "Enqueue one job",
    response=EnqueuedBody,
    makes_a_job=True,
    status=201,
    errors=(*ENQUEUE_ERRORS, ARGS_TOO_LARGE, UNKNOWN_JOB, OVERLOADED, IDEMPOTENCY_MISMATCH),
    scope=Scope.ENQUEUE,
    headers=(IDEMPOTENCY_KEY, PREFER),
    successes=WAITED,
    example={"kind": "echo", "args": {"hello": "world"}, "queue": "mail", "priority": 5},
)
async def enqueue_job(call: Call[NoParameters, JobBody]) -> Reply:
    """Writes one job and answers after the commit: an answered job survives every crash.

    With `Idempotency-Key` a repeated call makes no second job, and `is_new` is false. A different call with the same key is
    refused. With `Prefer: wait=N` the answer comes when the chain that the job begins has ended, with its output, or after N
    seconds (60 at the most) as it is then. If the job existed already, its output may be somebody else's: without the scope
    `read` the answer comes at once and without output.
    """
    key = call.headers.get(IDEMPOTENCY_KEY)
    check_header_key(key)
    job = new_job(call.body, call.services.limits)
    if key is not None:
        job = under_key(job, key, fingerprint_of(call.raw))
    written = await call.services.coalescer.enqueue(job, len(bytes(call.body.args)))
    location = {"Location": f"/api/jobs/{written.job_id}"}
    seconds = preferred_wait(call.headers.get(PREFER))
    if seconds is None or not (written.is_new or Scope.READ in call.identity.scopes):
        return Reply(EnqueuedBody(*msgspec.structs.astuple(written)), headers=location)
    result = await _result_within(call.services, written, seconds)
    applied = {**location, "Preference-Applied": f"wait={seconds}"}
    return Reply(result, 202 if result.state == "open" else 200, applied)


@routes(
    "POST",
    "/api/jobs/batch",
    "Enqueue up to 1000 jobs, all or none",
    request=JobBatch,
    status=201,
    errors=(*ENQUEUE_ERRORS, ARGS_TOO_LARGE, IDEMPOTENCY_MISMATCH),
    scope=Scope.ENQUEUE,
    headers=(IDEMPOTENCY_KEY,),
    example=[{"kind": "echo", "args": {"n": 1}}, {"kind": "echo", "args": {"n": 2}, "delay": 60}],
)
async def enqueue_batch(call: Call[NoParameters, list[JobBody]]) -> Page[EnqueuedBody]:
    """Writes all jobs or none, in one transaction, and answers in their order after the commit.

    With `Idempotency-Key` a repeated call makes no second jobs. A different call with the same key is refused, also one
    with fewer or more jobs.
    """
    key = call.headers.get(IDEMPOTENCY_KEY)
    check_header_key(key)
    jobs = [new_job(body, call.services.limits, f"$[{index}]") for index, body in enumerate(call.body)]
    if key is not None:
        fingerprint = fingerprint_of(call.raw)
        jobs = [under_key(job, key, fingerprint, f"$[{index}]") for index, job in enumerate(jobs)]
    written = await call.services.client.enqueue_with_outcomes(jobs)
    return Page([EnqueuedBody(*msgspec.structs.astuple(each)) for each in written])


@routes(
    "POST",
    "/api/jobs/enqueue-state",
    "Enqueue one job for each subject of a filter",
    refused_headers={IDEMPOTENCY_KEY: NO_KEY},
    errors=(*ENQUEUE_ERRORS, ARGS_TOO_LARGE),
    scope=Scope.ENQUEUE,
    also=Scope.READ,
    example={"job": {"kind": "crawl"}, "filter": {"kind": "crawl", "state": "failed", "metadata": {"region": "AZ"}}},
)
async def enqueue_for_keys(call: Call[NoParameters, KeysBody]) -> Page[KeyedJob]:
    """Makes the same job for each subject: for each key that jobs have had, as far as these match the filter.

    All in one transaction, keys in byte order; `next` is a key: give it as `after_key` to go on where `limit` was reached.
    `dry_run` only looks. The answer reveals keys and states of existing jobs, so the scope `read` is needed. A repeated
    call finds other subjects than the first, so `Idempotency-Key` is refused: give the job a unique key.
    """
    body = call.body
    call.services.hiding.refuse_search(call.identity, body.filter.metadata, "$.filter.metadata")
    job = new_job(body.job, call.services.limits, "$.job")
    for name in ("key", "idempotency_key"):
        if getattr(job, name) is not None:
            raise refuse_field(f"$.job.{name}", "Each of the jobs gets a key of its own")
    made = await call.services.client.jobs.enqueue_for_keys(
        job,
        **msgspec.structs.asdict(body.filter),
        after_key=body.after_key,
        limit=body.limit,
        dry_run=body.dry_run,
    )
    return Page(made, made[-1].key if len(made) == body.limit else None)


def check_header_key(key: str | None) -> None:
    """Refuses an idempotency key that Postgres could not keep."""
    if key is not None and not (1 <= len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()):
        raise refuse_field(f"header.{IDEMPOTENCY_KEY}", f"It must be 1 to {LONGEST_KEY} printable characters of ASCII")


def fingerprint_of(body: bytes) -> str:
    """The same for the same JSON, in whatever order its members are, and however it is spaced."""
    members = msgspec.json.encode(msgspec.json.decode(body), order="sorted")
    return blake2b(members, digest_size=16).hexdigest()


def under_key(job: NewJob, key: str, fingerprint: str, path: str = "$") -> NewJob:
    """The job as a part of the request that has this key. Refuses one with an idempotency key of its own."""
    if job.idempotency_key is not None:
        raise refuse_field(
            f"{path}.idempotency_key", f"It has another meaning than the header {IDEMPOTENCY_KEY}; send one of them"
        )
    return msgspec.structs.replace(job, idempotency_key=key, fingerprint=fingerprint)


async def _result_within(services: GatewayServices, written: EnqueuedJob, seconds: int) -> ResultBody:
    # A job that was there already may stand anywhere in its chain.
    chain_id = written.job_id if written.is_new else (await services.client.get(written.job_id)).chain_id
    chain = await chain_within(services, chain_id, seconds)
    return ResultBody(
        written.job_id, written.is_new, written.outcome, cast("Any", chain.state), chain.output, chain.error
    )
