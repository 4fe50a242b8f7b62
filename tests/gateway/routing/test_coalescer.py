from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from leasehold.client.shared_statements import MOST_SIZE
from leasehold.errors import BadInput, DatabaseUnavailable, LeaseholdError
from leasehold.gateway.http.problems import OVERLOADED, Refusal
from leasehold.gateway.routing import coalescer as coalescing
from leasehold.gateway.routing.coalescer import Coalescer
from leasehold.jobs.new_job import NewJob
from leasehold.records.jobs import EnqueuedJob
from tests.gateway.fakes.client import FakeClient
from tests.support.flavours import under_asyncio


def new_jobs(count: int) -> list[NewJob]:
    return [NewJob(kind=f"kind{number}") for number in range(count)]


async def outcomes_of(coalescer: Coalescer, jobs: Sequence[NewJob]) -> list[EnqueuedJob | BaseException]:
    return await asyncio.gather(*(coalescer.enqueue(job) for job in jobs), return_exceptions=True)


@under_asyncio
async def test_a_lone_job_goes_at_once() -> None:
    client = FakeClient()
    assert await Coalescer(client.enqueue_with_outcomes).enqueue(NewJob(kind="echo")) == EnqueuedJob(1, True)
    assert [len(statement) for statement in client.statements] == [1]


@under_asyncio
async def test_jobs_that_arrive_during_a_statement_share_the_next_one_and_each_gets_its_own_id() -> None:
    client = FakeClient()
    client.gate = asyncio.Event()
    coalescer = Coalescer(client.enqueue_with_outcomes)
    first = asyncio.create_task(coalescer.enqueue(NewJob(kind="first")))
    await client.entered.wait()
    others = [asyncio.create_task(coalescer.enqueue(job)) for job in new_jobs(50)]
    await asyncio.sleep(0)
    assert coalescer.unanswered == 51
    client.gate.set()
    assert (await first).job_id == 1
    assert await asyncio.gather(*others) == [EnqueuedJob(job_id, True) for job_id in range(2, 52)]
    assert [len(statement) for statement in client.statements] == [1, 50]


@under_asyncio
async def test_no_statement_is_larger_than_allowed() -> None:
    client = FakeClient()
    await outcomes_of(Coalescer(client.enqueue_with_outcomes), new_jobs(450))
    assert [len(statement) for statement in client.statements] == [200, 200, 50]


@under_asyncio
async def test_large_jobs_share_a_statement_only_as_far_as_they_fit() -> None:
    client = FakeClient()
    coalescer = Coalescer(client.enqueue_with_outcomes)
    hundredths = [30, 30, 40, 1, 500, 60, 60]
    await asyncio.gather(*(coalescer.enqueue(NewJob(kind="large"), each * MOST_SIZE // 100) for each in hundredths))
    assert [len(statement) for statement in client.statements] == [3, 1, 1, 1, 1]


@under_asyncio
async def test_an_end_in_the_middle_of_a_refused_batch_leaves_nobody_waiting() -> None:
    stuck = asyncio.Event()

    async def refuse_two_and_keep_one(jobs: Sequence[NewJob]) -> list[EnqueuedJob]:
        if len(jobs) > 1:
            raise BadInput("one of them")
        stuck.set()
        await asyncio.Event().wait()
        return []

    coalescer = Coalescer(refuse_two_and_keep_one)
    callers = [asyncio.create_task(coalescer.enqueue(job)) for job in new_jobs(2)]
    await stuck.wait()
    [sending] = [task for task in asyncio.all_tasks() if task.get_name() == "shared statements"]
    sending.cancel()
    outcomes = await asyncio.gather(*callers, return_exceptions=True)
    assert [type(each) for each in outcomes] == [DatabaseUnavailable] * 2
    assert coalescer.refused == 1


class Unlike(Exception):
    """An error of a middleware, whose class takes other args than those that it hands on."""

    def __init__(self, kind: str, *, reason: str) -> None:
        super().__init__(f"{kind}: {reason}")


class TooMany(LeaseholdError):
    """An error of a middleware whose class says more than it is given."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text} too many")


@under_asyncio
async def test_an_error_of_a_middleware_reaches_all_whose_statement_it_ended_as_it_is() -> None:
    for error, text in ((Unlike("a", reason="not today"), "a: not today"), (TooMany("3"), "3 too many")):

        async def fails(_jobs: Sequence[NewJob], error: Exception = error) -> list[EnqueuedJob]:
            raise error

        ends = await outcomes_of(Coalescer(fails), new_jobs(3))
        assert [str(end) for end in ends] == [text] * 3


@under_asyncio
async def test_a_job_with_an_idempotency_key_never_holds_up_jobs_without_one() -> None:
    client = FakeClient()
    client.gate = asyncio.Event()
    coalescer = Coalescer(client.enqueue_with_outcomes)
    stuck = asyncio.create_task(coalescer.enqueue(NewJob(kind="stuck", idempotency_key="held by somebody")))
    await client.entered.wait()
    gate, client.gate = client.gate, None
    assert (await coalescer.enqueue(NewJob(kind="free"))).job_id == 1
    assert not stuck.done()
    gate.set()
    assert (await stuck).job_id == 2


@under_asyncio
async def test_jobs_that_waited_for_a_statement_without_an_answer_fail_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coalescing, "PATIENCE_SECONDS", 0.0)
    client = FakeClient()
    client.gate = asyncio.Event()
    client.before = lambda jobs: (_ for _ in ()).throw(DatabaseUnavailable("no answer"))
    coalescer = Coalescer(client.enqueue_with_outcomes)
    first = asyncio.create_task(coalescer.enqueue(NewJob(kind="first")))
    await client.entered.wait()
    others = [asyncio.create_task(coalescer.enqueue(job)) for job in new_jobs(3)]
    await asyncio.sleep(0)
    client.gate.set()
    outcomes = await asyncio.gather(first, *others, return_exceptions=True)
    assert [type(each) for each in outcomes] == [DatabaseUnavailable] * 4
    assert coalescer.statements == 1


@under_asyncio
async def test_a_job_with_a_key_does_not_wait_for_others_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coalescing, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(coalescing, "ALONE_AT_ONCE", 1)
    client = FakeClient()
    client.gate = asyncio.Event()
    coalescer = Coalescer(client.enqueue_with_outcomes)
    stuck = asyncio.create_task(coalescer.enqueue(NewJob(kind="stuck", idempotency_key="held by somebody")))
    await client.entered.wait()
    with pytest.raises(Refusal) as refusal:
        await coalescer.enqueue(NewJob(kind="next", idempotency_key="another"))
    assert refusal.value.problem is OVERLOADED
    client.gate.set()
    assert (await stuck).job_id == 1


@under_asyncio
async def test_when_too_many_jobs_wait_the_next_is_refused_instead_of_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coalescing, "MOST_JOBS", 3)
    monkeypatch.setattr(coalescing, "MOST_BYTES", 100)
    client = FakeClient()
    client.gate = asyncio.Event()
    coalescer = Coalescer(client.enqueue_with_outcomes)
    first = asyncio.create_task(coalescer.enqueue(NewJob(kind="first")))
    await client.entered.wait()
    waiting = [asyncio.create_task(coalescer.enqueue(job)) for job in new_jobs(2)]
    await asyncio.sleep(0)
    with pytest.raises(Refusal, match="3 jobs are waiting"):
        await coalescer.enqueue(NewJob(kind="one too many"))
    client.gate.set()
    await asyncio.gather(first, *waiting)
    assert coalescer.unanswered == 0
    with pytest.raises(Refusal):
        await coalescer.enqueue(NewJob(kind="one too large"), 101)
