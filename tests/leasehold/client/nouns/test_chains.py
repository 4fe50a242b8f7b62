from __future__ import annotations

from typing import Any

import pytest

from leasehold import App, Client
from leasehold.errors import BadInput, InvalidArgs, UnknownJob, UnknownKind, WrongState
from leasehold.events import ChainCompleted, JobRequeued
from leasehold.jobs.endings import ContinueWith
from leasehold.jobs.new_job import NewJob
from tests.leasehold.client.conftest import Under, with_client


@with_client()
async def test_a_chain_is_started_looked_at_and_completed_from_outside(client: Client) -> None:
    chain_id = await client.enqueue("pay", queue="shop")
    assert [each.is_new for each in await client.enqueue_with_outcomes([NewJob(kind="other")])] == [True]
    [packed] = await client.chains.complete(chain_id, continue_with=NewJob(kind="pack"))
    chain = await client.chains.get(chain_id)
    assert (chain.state, chain.kind, chain.queue, chain.jobs) == ("open", "pay", "shop", 2)
    assert (chain.job_id, chain.job_kind, chain.job_state) == (packed, "pack", "pending")
    assert await client.chains.complete(chain_id, {"done": True}) == []
    assert (await client.chains.get(chain_id)).output == {"done": True}
    jobs = await client.chains.jobs(chain_id)
    assert [(job.id, job.kind, job.chain_id, job.chain_position) for job in jobs] == [
        (chain_id, "pay", chain_id, 0),
        (packed, "pack", chain_id, 1),
    ]
    assert [job.succeeded_by for job in jobs] == [packed, None]
    assert [job.id for job in await client.chains.jobs(chain_id, after_position=0)] == [packed]


@with_client()
async def test_chains_are_listed_by_state_kind_and_queue(client: Client) -> None:
    one, two, three = [await client.enqueue(kind) for kind in ("pay", "pack", "pay")]
    await client.chains.cancel(one)
    assert [each.chain_id for each in await client.chains.list()] == [three, two, one]
    assert [each.chain_id for each in await client.chains.list(state="open", kind="pay", queue="default")] == [three]
    assert [each.chain_id for each in await client.chains.list(before_id=three, page_size=1)] == [two]
    with pytest.raises(BadInput):
        await client.chains.list(state="pending")


@with_client()
async def test_a_job_says_what_it_waits_for_and_a_chain_who_waits_for_it(client: Client) -> None:
    whole = await client.enqueue("report", blockers=[NewJob(kind="part"), NewJob(kind="part")])
    first, second = await client.jobs.blockers(whole)
    assert [(each.slot, each.state, each.closed_at) for each in (first, second)] == [
        (1, "open", None),
        (2, "open", None),
    ]
    assert [job.id for job in await client.chains.blocked_jobs(first.chain_id)] == [whole]
    await client.chains.complete(first.chain_id, [1])
    await client.chains.cancel(second.chain_id)
    first, second = await client.jobs.blockers(whole)
    assert (first.state, first.output, second.state, second.output) == ("completed", [1], "cancelled", None)
    assert (await client.chains.get(whole)).open_blockers == 1
    with pytest.raises(WrongState, match="report"):
        await client.chains.delete(second.chain_id)
    assert await client.chains.delete(whole, cascade=True) == sorted([first.chain_id, second.chain_id, whole])
    with pytest.raises(UnknownJob):
        await client.chains.get(whole)
    assert [entry.event for entry in await client.jobs.timeline(whole)] == ["deleted"]


@with_client()
async def test_a_completion_from_outside_may_fan_out(client: Client) -> None:
    chain_id = await client.enqueue("approve")
    parts = [NewJob(kind="part"), NewJob(kind="part")]
    *made, last = await client.chains.complete(
        chain_id, continue_with=ContinueWith(NewJob(kind="sum"), parts, [NewJob(kind="mail")])
    )
    assert len(made) == 3
    assert {each.chain_id for each in await client.jobs.blockers(last)} < set(made)
    assert (await client.chains.get(chain_id)).job_state == "blocked"


def test_with_an_app_the_next_job_is_checked(under: Under) -> None:
    app = App()

    @app.kind(queue="mail")
    async def greet(name: str) -> str:
        return name

    async def work(client: Client) -> None:
        chain_id = await client.enqueue(greet.new("Ada"))
        with pytest.raises(UnknownKind):
            await client.chains.complete(chain_id, continue_with=NewJob(kind="gret"))
        with pytest.raises(InvalidArgs):
            await client.chains.complete(chain_id, continue_with=NewJob(kind="greet", args={"name": 1}))
        with pytest.raises(InvalidArgs, match="output"):
            await client.chains.complete(chain_id, float("nan"))
        [new] = await client.chains.complete(chain_id, continue_with=greet.new("Eve"))
        assert (await client.get(new)).queue == "mail"

    under(work, app=app)


@with_client()
async def test_what_is_not_there_or_has_ended_says_so(client: Client) -> None:
    for ask in (
        client.chains.get,
        client.chains.jobs,
        client.chains.complete,
        client.chains.cancel,
        client.chains.delete,
    ):
        call: Any = ask
        with pytest.raises(UnknownJob, match="99"):
            await call(99)
    chain_id = await client.enqueue("pay")
    await client.chains.cancel(chain_id, "no")
    for ask in (client.chains.complete, client.chains.cancel):
        with pytest.raises(WrongState, match="is cancelled and cannot be c"):
            await ask(chain_id)
    assert await client.jobs.blockers(99) == []


@with_client()
async def test_scheduled_jobs_are_triggered_all_or_none(client: Client) -> None:
    heard: list[JobRequeued] = []
    client.subscribe(JobRequeued, heard.append)
    one, two, due = (
        await client.enqueue("a", delay=60),
        await client.enqueue("a", delay=60),
        await client.enqueue("a"),
    )
    with pytest.raises(WrongState, match=f"job {due} is pending"):
        await client.jobs.trigger_many([one, due])
    assert await client.jobs.trigger(one) == "pending"
    assert await client.jobs.trigger_many([two]) == {two: "pending"}
    with pytest.raises(UnknownJob):
        await client.jobs.trigger(99)
    assert [event.job_id for event in heard] == [one, two]


async def in_a_transaction(client: Client, chain_id: int, database: Any) -> None:
    async with database.transaction() as transaction:
        await client.chains.complete(chain_id, 1, connection=transaction)
        assert (await client.chains.get(chain_id)).state == "open"
        raise ZeroDivisionError


@with_client()
async def test_a_chain_completes_in_ones_own_transaction_or_not_at_all(client: Client) -> None:
    chain_id = await client.enqueue("pay")
    with pytest.raises(ZeroDivisionError):
        await in_a_transaction(client, chain_id, client._database)  # pyright: ignore[reportPrivateUsage]
    assert (await client.chains.get(chain_id)).state == "open"


@with_client()
async def test_a_completion_from_outside_is_told_with_the_job_that_ended_the_chain(client: Client) -> None:
    heard: list[ChainCompleted] = []
    client.subscribe(ChainCompleted, heard.append)
    chain_id = await client.enqueue("pay")
    [last] = await client.chains.complete(chain_id, continue_with=NewJob(kind="pack"))
    await client.chains.complete(chain_id)
    assert [(each.chain_id, each.kind, each.job_id) for each in heard] == [(chain_id, "pack", last)]


@with_client()
async def test_a_client_of_either_flavour_sees_the_graph_of_a_chain(client: Client) -> None:
    part = await client.enqueue("part")
    whole = await client.enqueue("whole", blockers=[part])
    graph = await client.chains.graph(part)
    assert [(each.chain_id, each.kind, each.state, each.waits_for) for each in graph.nodes] == [
        (part, "part", "open", []),
        (whole, "whole", "open", [part]),
    ]
    assert not graph.is_partial
    assert (await client.chains.graph(part, most=1)).is_partial
    with pytest.raises(UnknownJob):
        await client.chains.graph(404)
