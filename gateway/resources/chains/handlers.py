"""The handlers of `/api/chains…`."""

from __future__ import annotations

from collections.abc import Sequence

from leasehold.gateway.http.pages import Page, cursor_at, place_of
from leasehold.gateway.http.problems import refuse_field
from leasehold.gateway.resources.chains.bodies import (
    CancelledBody,
    CancelParameters,
    ChainJobsParameters,
    ChainParameters,
    ChainsParameters,
    CompletedBody,
    CompletionBody,
    DeletedBody,
    DeleteParameters,
    GraphParameters,
    WaitParameters,
)
from leasehold.gateway.resources.jobs.bodies import JobParameters
from leasehold.gateway.resources.jobs.enqueue_bodies import JobBody
from leasehold.gateway.resources.jobs.new_jobs import new_job
from leasehold.gateway.routing.routes import Call
from leasehold.gateway.routing.services import GatewayServices
from leasehold.gateway.routing.waiting import chain_within
from leasehold.jobs.handling.continuation import ContinueWith
from leasehold.jobs.producing.new_job import NewJob
from leasehold.records.chains import BlockerRecord, ChainGraph, ChainRecord
from leasehold.records.jobs import JobRecord

LARGEST_POSITION = 2**31 - 1


async def list_chains(call: Call[ChainsParameters, None]) -> Page[ChainRecord]:
    """A page of chains, newest first. A chain has the id of its first job."""
    asked = call.parameters
    found = await call.services.client.chains.list(
        state=asked.state, kind=asked.kind, queue=asked.queue, before_id=place_of(asked.cursor), page_size=asked.limit
    )
    return Page(found, cursor_at(found[-1].chain_id) if len(found) == asked.limit else None)


async def show_chain(call: Call[ChainParameters, None]) -> ChainRecord:
    """One chain and its state."""
    return await call.services.client.chains.get(call.parameters.id)


async def list_chain_jobs(call: Call[ChainJobsParameters, None]) -> Page[JobRecord]:
    """A page of the jobs of a chain, in their order."""
    asked = call.parameters
    place = place_of(asked.cursor)
    after = -1 if place is None else min(place, LARGEST_POSITION)
    found = await call.services.client.chains.jobs(asked.id, after_position=after, page_size=asked.limit)
    return Page(found, cursor_at(found[-1].chain_position) if len(found) == asked.limit else None)


async def show_graph(call: Call[GraphParameters, None]) -> ChainGraph:
    """The chain with all that waits for it and all that those wait for. Who waited for a chain that has ended is not found
    from there: ask for the graph of the one that waited."""
    return await call.services.client.chains.graph(call.parameters.id, most=call.parameters.limit)


async def list_blockers(call: Call[JobParameters, None]) -> Page[BlockerRecord]:
    """The chains that the job waits or waited for, in the order in which they were given."""
    await call.services.client.get(call.parameters.id)
    return Page(await call.services.client.jobs.blockers(call.parameters.id))


async def complete_chain(call: Call[ChainParameters, CompletionBody]) -> CompletedBody:
    """Completes the open job from outside, without a worker."""
    body = call.body
    if body.next is None and body.jobs:
        raise refuse_field("$.jobs", "Give them together with next")
    if body.next is not None and body.output is not None:
        raise refuse_field("$.output", "Give output or next, not both")
    end = None if body.next is None else _continuation(body.next, body.jobs, call.services)
    return CompletedBody(await call.services.client.chains.complete(call.parameters.id, body.output, continue_with=end))


async def cancel_chain(call: Call[CancelParameters, None]) -> CancelledBody:
    """Cancels the open job."""
    return CancelledBody(await call.services.client.chains.cancel(call.parameters.id, call.parameters.reason))


async def delete_chain(call: Call[DeleteParameters, None]) -> DeletedBody:
    """Removes the chain."""
    return DeletedBody(await call.services.client.chains.delete(call.parameters.id, cascade=call.parameters.cascade))


async def wait_for_chain(call: Call[WaitParameters, None]) -> ChainRecord:
    """The chain when it has ended, when the time is up, or when the gateway stops; `state` tells which."""
    return await chain_within(call.services, call.parameters.id, call.parameters.seconds)


def _continuation(follower: JobBody, jobs: Sequence[JobBody], services: GatewayServices) -> ContinueWith:
    begun: list[NewJob] = [new_job(body, services, f"$.jobs[{index}]") for index, body in enumerate(jobs)]
    return ContinueWith(new_job(follower, services, "$.next"), jobs=begun)
