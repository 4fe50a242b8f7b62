"""The handlers of `/api/chains…`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from leasehold.continuation import ContinueWith
from leasehold.errors import WaitTimeout
from leasehold.gateway.bodies import JobBody, JobParameters
from leasehold.gateway.chain_bodies import (
    CancelledBody,
    CancelParameters,
    ChainJobsBody,
    ChainJobsParameters,
    ChainParameters,
    ChainsBody,
    ChainsParameters,
    CompletedBody,
    CompletionBody,
    DeletedBody,
    DeleteParameters,
    WaitParameters,
)
from leasehold.gateway.jobs import new_job
from leasehold.gateway.problems import INVALID_INPUT, Offence, Refusal
from leasehold.gateway.routes import Call
from leasehold.gateway.services import Services
from leasehold.new_job import NewJob
from leasehold.records import BlockerRecord, ChainRecord


async def list_chains(call: Call[ChainsParameters, None]) -> ChainsBody:
    """A page of chains."""
    asked = call.parameters
    found = await call.services.client.chains(
        state=asked.state, kind=asked.kind, queue=asked.queue, before_id=asked.before_id, page_size=asked.page_size
    )
    return ChainsBody(found, found[-1].chain_id if len(found) == asked.page_size else None)


async def show_chain(call: Call[ChainParameters, None]) -> ChainRecord:
    """How one chain stands."""
    return await call.services.client.chain(call.parameters.id)


async def list_chain_jobs(call: Call[ChainJobsParameters, None]) -> ChainJobsBody:
    """A page of the jobs of a chain."""
    asked = call.parameters
    found = await call.services.client.chain_jobs(
        asked.id, after_position=asked.after_position, page_size=asked.page_size
    )
    return ChainJobsBody(found, found[-1].chain_position if len(found) == asked.page_size else None)


async def list_blockers(call: Call[JobParameters, None]) -> list[BlockerRecord]:
    """The chains that a job waits or waited for."""
    await call.services.client.get(call.parameters.id)
    return await call.services.client.blockers(call.parameters.id)


async def complete_chain(call: Call[ChainParameters, CompletionBody]) -> CompletedBody:
    """Completes the open job from outside, without a worker."""
    body = call.body
    if body.next is None and body.jobs:
        raise _refused("$.jobs", "Give them together with next")
    if body.next is not None and body.output is not None:
        raise _refused("$.output", "Give output or next, not both")
    end = None if body.next is None else _continuation(body.next, body.jobs, call.services)
    return CompletedBody(await call.services.client.complete_chain(call.parameters.id, body.output, continue_with=end))


async def cancel_chain(call: Call[CancelParameters, None]) -> CancelledBody:
    """Cancels the open job."""
    return CancelledBody(await call.services.client.cancel_chain(call.parameters.id, call.parameters.reason))


async def delete_chain(call: Call[DeleteParameters, None]) -> DeletedBody:
    """Removes the chain."""
    return DeletedBody(await call.services.client.delete_chain(call.parameters.id, cascade=call.parameters.cascade))


async def wait_for_chain(call: Call[WaitParameters, None]) -> ChainRecord:
    """How the chain stands when it has ended, or when the time is up, or when the gateway stops: the state tells."""
    client, chain_id = call.services.client, call.parameters.id
    waiting = asyncio.ensure_future(client.end_of(chain_id, timeout=call.parameters.seconds))
    stopping = asyncio.ensure_future(call.services.stopping.wait())
    try:
        await asyncio.wait({waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return await waiting if waiting.done() else await client.chain(chain_id)
    except WaitTimeout:
        return await client.chain(chain_id)
    finally:
        waiting.cancel()
        stopping.cancel()


def _continuation(follower: JobBody, jobs: Sequence[JobBody], services: Services) -> ContinueWith:
    begun: list[NewJob] = [new_job(body, services, f"$.jobs[{index}]") for index, body in enumerate(jobs)]
    return ContinueWith(new_job(follower, services, "$.next"), jobs=begun)


def _refused(path: str, message: str) -> Refusal:
    return Refusal(INVALID_INPUT, f"{message} (at {path})", offences=[Offence(path, message)])
