"""`/api/chains…`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import ById, Cursor, Id, Limit, Page, cursor_at, place_of
from leasehold.gateway.http.problems import (
    ARGS_TOO_LARGE,
    ENQUEUE_ERRORS,
    IDEMPOTENCY_MISMATCH,
    INVALID_ARGS,
    OVERLOADED,
    ROW_LOCKED,
    UNIQUE_CONFLICT,
    UNKNOWN_JOB,
    UNKNOWN_KIND,
    WRONG_STATE,
    refuse_field,
)
from leasehold.gateway.nouns.jobs import ReasonParameters
from leasehold.gateway.nouns.jobs_enqueue import (
    IDEMPOTENCY_KEY,
    PREFER,
    WAITED,
    EnqueuedBody,
    JobBody,
    enqueue_job,
    new_job,
)
from leasehold.gateway.routing.routes import Call, Routes
from leasehold.gateway.routing.services import chain_within
from leasehold.jobs.endings import ContinueWith
from leasehold.jobs.new_job import NewJob
from leasehold.records.jobs import BlockerRecord, ChainGraph, ChainRecord, JobRecord

LONGEST_POLL = 60.0


class CompletionBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the open job of a chain ends: with an output, or with the job that continues the chain."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            {"properties": {"next": {"type": "null"}, "jobs": {"maxItems": 0}}},
            {"required": ["next"], "properties": {"next": {"not": {"type": "null"}}, "output": {"type": "null"}}},
        ]
    }

    output: Annotated[Any, Meta(description="Any JSON; of the chain, where it ends here.")] = None
    next: Annotated[JobBody, Meta(description="The job that continues the chain.")] | None = None
    jobs: Annotated[
        list[JobBody],
        Meta(max_length=1000, description="Begin chains of their own in the same commit; only with `next`."),
    ] = []


class CompletedBody(msgspec.Struct, frozen=True):
    """Ids of the jobs that were made; the one that continues the chain is the last."""

    new_ids: Sequence[int]


class CancelledBody(msgspec.Struct, frozen=True):
    """The state that the cancelled job was in."""

    was: str


class DeletedBody(msgspec.Struct, frozen=True):
    """Ids of the chains that were removed."""

    deleted: Sequence[int]


class ChainsParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which chains: by their state, and by kind and queue of their first job."""

    state: Literal["open", "completed", "failed", "cancelled"] | None = None
    kind: str | None = None
    queue: str | None = None
    cursor: Cursor | None = None
    limit: Limit = 50


class ChainJobsParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which chain, and which of its jobs."""

    id: Id
    cursor: Cursor | None = None
    limit: Limit = 50


class GraphParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which chain, and how much of what it has to do with."""

    id: Id
    limit: Annotated[int, Meta(ge=1, le=10_000, description="How many chains at the most.")] = 2000


class DeleteParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which chain, and whether also the chains that it waits or waited for."""

    id: Id
    cascade: bool = False


class WaitParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which chain, and how long to wait for its end."""

    id: Id
    seconds: Annotated[float, Meta(ge=0, le=LONGEST_POLL)] = 30.0


LARGEST_POSITION = 2**31 - 1


routes = Routes("chains")


@routes("GET", "/api/chains", "List chains, newest first", scope=Scope.READ)
async def list_chains(call: Call[ChainsParameters, None]) -> Page[ChainRecord]:
    """A page of chains, newest first. A chain has the id of its first job."""
    asked = call.parameters
    found = await call.services.client.chains.list(
        state=asked.state, kind=asked.kind, queue=asked.queue, before_id=place_of(asked.cursor), page_size=asked.limit
    )
    return Page(found, cursor_at(found[-1].chain_id) if len(found) == asked.limit else None)


@routes("GET", "/api/chains/{id}", "Show how one chain stands", errors=(UNKNOWN_JOB,), scope=Scope.READ)
async def show_chain(call: Call[ById, None]) -> ChainRecord:
    """One chain and its state."""
    return await call.services.client.chains.get(call.parameters.id)


@routes(
    "GET", "/api/chains/{id}/jobs", "List the jobs of a chain in their order", errors=(UNKNOWN_JOB,), scope=Scope.READ
)
async def list_chain_jobs(call: Call[ChainJobsParameters, None]) -> Page[JobRecord]:
    """A page of the jobs of a chain, in their order."""
    asked = call.parameters
    place = place_of(asked.cursor)
    after = -1 if place is None else min(place, LARGEST_POSITION)
    found = await call.services.client.chains.jobs(asked.id, after_position=after, page_size=asked.limit)
    return Page(found, cursor_at(found[-1].chain_position) if len(found) == asked.limit else None)


@routes(
    "GET",
    "/api/chains/{id}/graph",
    "Show a chain with all that it has to do with",
    errors=(UNKNOWN_JOB,),
    scope=Scope.READ,
)
async def show_graph(call: Call[GraphParameters, None]) -> ChainGraph:
    """The chain with all that waits for it and all that those wait for. Who waited for a chain that has ended is not found
    from there: ask for the graph of the one that waited."""
    return await call.services.client.chains.graph(call.parameters.id, most=call.parameters.limit)


@routes(
    "GET",
    "/api/jobs/{id}/blockers",
    "List the chains that a job waits or waited for",
    errors=(UNKNOWN_JOB,),
    scope=Scope.READ,
)
async def list_blockers(call: Call[ById, None]) -> Page[BlockerRecord]:
    """The chains that the job waits or waited for, in the order in which they were given."""
    await call.services.client.get(call.parameters.id)
    return Page(await call.services.client.jobs.blockers(call.parameters.id))


@routes(
    "POST",
    "/api/chains/{id}/complete",
    "Complete the open job of a chain without a worker",
    errors=(UNKNOWN_JOB, WRONG_STATE, INVALID_ARGS, ARGS_TOO_LARGE, UNKNOWN_KIND, UNIQUE_CONFLICT),
    scope=Scope.OPERATE,
)
async def complete_chain(call: Call[ById, CompletionBody]) -> CompletedBody:
    """Completes the open job from outside, without a worker."""
    body = call.body
    if body.next is None and body.jobs:
        raise refuse_field("$.jobs", "Give them together with next")
    if body.next is not None and body.output is not None:
        raise refuse_field("$.output", "Give output or next, not both")
    end, limits = None, call.services.limits
    if body.next is not None:
        begun: list[NewJob] = [new_job(each, limits, f"$.jobs[{index}]") for index, each in enumerate(body.jobs)]
        end = ContinueWith(new_job(body.next, limits, "$.next"), jobs=begun)
    return CompletedBody(await call.services.client.chains.complete(call.parameters.id, body.output, continue_with=end))


@routes(
    "POST",
    "/api/chains/{id}/cancel",
    "Cancel the open job of a chain",
    errors=(UNKNOWN_JOB, WRONG_STATE, ROW_LOCKED),
    scope=Scope.OPERATE,
)
async def cancel_chain(call: Call[ReasonParameters, None]) -> CancelledBody:
    """Cancels the open job."""
    return CancelledBody(await call.services.client.chains.cancel(call.parameters.id, call.parameters.reason))


@routes(
    "DELETE",
    "/api/chains/{id}",
    "Remove a chain with all its jobs",
    errors=(UNKNOWN_JOB, WRONG_STATE),
    scope=Scope.OPERATE,
)
async def delete_chain(call: Call[DeleteParameters, None]) -> DeletedBody:
    """Removes the chain."""
    return DeletedBody(await call.services.client.chains.delete(call.parameters.id, cascade=call.parameters.cascade))


@routes(
    "GET",
    "/api/chains/{id}/wait",
    "Wait for the end of a chain, up to a minute",
    errors=(UNKNOWN_JOB,),
    scope=Scope.READ,
)
async def wait_for_chain(call: Call[WaitParameters, None]) -> ChainRecord:
    """The chain when it has ended, when the time is up, or when the gateway stops; `state` tells which."""
    return await chain_within(call.services, call.parameters.id, call.parameters.seconds)


routes(
    "POST",
    "/api/chains",
    "Start a chain with its first job",
    response=EnqueuedBody,
    makes_a_job=True,
    headers=(IDEMPOTENCY_KEY, PREFER),
    status=201,
    successes=WAITED,
    errors=(*ENQUEUE_ERRORS, ARGS_TOO_LARGE, UNKNOWN_JOB, OVERLOADED, IDEMPOTENCY_MISMATCH),
    scope=Scope.ENQUEUE,
)(enqueue_job)
