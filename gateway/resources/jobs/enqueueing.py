"""The handlers that make jobs."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, cast

import msgspec

from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.pages import Page
from leasehold.gateway.http.problems import refuse_field
from leasehold.gateway.resources.jobs.enqueue_bodies import EnqueuedBody, JobBody, KeysBody, ResultBody
from leasehold.gateway.resources.jobs.new_jobs import new_job
from leasehold.gateway.routing.routes import Call, NoParameters, Reply
from leasehold.gateway.routing.services import GatewayServices
from leasehold.gateway.routing.waiting import chain_within, preferred_wait
from leasehold.jobs.handling.job import NewJob
from leasehold.records.jobs import EnqueuedJob, KeyedJob

IDEMPOTENCY_KEY = "Idempotency-Key"
PREFER = "Prefer"
NO_KEY = "Which jobs this makes depends on when it is called, so it takes no key; give the job `unique` instead"
LONGEST_KEY = 500


async def enqueue_job(call: Call[NoParameters, JobBody]) -> Reply:
    """Writes one job and answers after the commit: an answered job survives every crash.

    With `Idempotency-Key` a repeated call makes no second job, and `is_new` is false. A different call with the same key is
    refused. With `Prefer: wait=N` the answer comes when the chain that the job begins has ended, with its output, or after N
    seconds (60 at the most) as it is then. If the job existed already, its output may be somebody else's: without the scope
    `read` the answer comes at once and without output.
    """
    key = call.headers.get(IDEMPOTENCY_KEY)
    check_header_key(key)
    job = new_job(call.body, call.services)
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


async def enqueue_batch(call: Call[NoParameters, list[JobBody]]) -> Page[EnqueuedBody]:
    """Writes all jobs or none, in one transaction, and answers in their order after the commit.

    With `Idempotency-Key` a repeated call makes no second jobs. A different call with the same key is refused, also one
    with fewer or more jobs.
    """
    key = call.headers.get(IDEMPOTENCY_KEY)
    check_header_key(key)
    jobs = [new_job(body, call.services, f"$[{index}]") for index, body in enumerate(call.body)]
    if key is not None:
        fingerprint = fingerprint_of(call.raw)
        jobs = [under_key(job, key, fingerprint, f"$[{index}]") for index, job in enumerate(jobs)]
    written = await call.services.client.enqueue_many(jobs)
    return Page([EnqueuedBody(*msgspec.structs.astuple(each)) for each in written])


async def enqueue_for_keys(call: Call[NoParameters, KeysBody]) -> Page[KeyedJob]:
    """Makes the same job for each subject: for each key that jobs have had, as far as these match the filter.

    All in one transaction, keys in byte order; `next` is a key: give it as `after_key` to go on where `limit` was reached.
    `dry_run` only looks. The answer reveals keys and states of existing jobs, so the scope `read` is needed. A repeated
    call finds other subjects than the first, so `Idempotency-Key` is refused: give the job a unique key.
    """
    body = call.body
    call.services.hiding.refuse_search(call.identity, body.filter.metadata, "$.filter.metadata")
    job = new_job(body.job, call.services, "$.job")
    for name in ("key", "idempotency_key"):
        if getattr(job, name) is not None:
            raise refuse_field(f"$.job.{name}", "Each of the jobs gets a key of its own")
    made = await call.services.client.enqueue_for_keys(
        job,
        queue=body.filter.queue,
        kind=body.filter.kind,
        metadata=body.filter.metadata,
        state=body.filter.state,
        keys=body.filter.keys,
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
