from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import cast

import pytest

from leasehold import App, Context, Job, NewJob, Retry
from leasehold.client import open_client
from leasehold.errors import BadInput
from leasehold.testing import Kit

app = App()


@app.kind
async def send(address: str, copies: int = 1) -> str:
    return f"{address} {copies}"


@app.kind(runs="asyncio")
async def send_later(job: Job, address: str) -> None:
    await asyncio.sleep(0)
    job.start(send.new(address))


@app.kind
def fails_once(job: Job) -> int:
    if job.attempt == 1:
        raise Retry(timedelta(minutes=5), "not yet")  # a back-off is drawn by lot, and may be over in a moment
    return job.attempt


@pytest.fixture
def leasehold_app() -> App:
    return app


def test_a_plain_test_enqueues_runs_and_looks(leasehold_kit: Kit) -> None:
    kit = leasehold_kit
    kit.enqueue(send_later.new("ada"))
    ran = kit.drain()
    assert [(job.kind, job.state) for job in ran] == [("send_later", "completed"), ("send", "completed")]
    assert [job.output for job in kit.enqueued(send, args={"address": "ada"}, times=1)] == ["ada 1"]
    assert kit.run(send.new("bob", copies=2)).output == "bob 2"


def test_what_the_app_opens_when_a_worker_starts_is_there(leasehold_kit: Kit) -> None:
    class Box:
        is_open = True

    shared = App()
    boxes: list[Box] = []

    @shared.on_start
    def open_box(state: Context) -> None:
        state[Box] = Box()

    @shared.on_stop
    def close_box(state: Context) -> None:
        state[Box].is_open = False

    @shared.kind
    def look(job: Job) -> bool:
        boxes.append(job.state[Box])
        return job.state[Box].is_open

    leasehold_kit.app = shared
    assert leasehold_kit.run(look.new()).output is True
    assert [box.is_open for box in boxes] == [False]


def test_a_kind_that_is_run_instead_of_a_job_is_refused_with_advice(leasehold_kit: Kit) -> None:
    with pytest.raises(BadInput, match=r"did you mean send\.new"):
        leasehold_kit.run(cast("NewJob[str]", send))


def test_what_was_expected_and_what_is_there_stand_side_by_side(leasehold_kit: Kit) -> None:
    job_id = leasehold_kit.enqueue(send.new("bob"), queue="mail")
    told = (
        "expected a job of kind send args={'address': 'ada'} queue='mail'; there are 0\n"
        f"  job {job_id} pending {{'address': 'bob'}}\n    args.address: expected 'ada', found 'bob'"
    )
    with pytest.raises(AssertionError) as refused:
        leasehold_kit.enqueued(send, args={"address": "ada"}, queue="mail")
    assert str(refused.value) == told
    with pytest.raises(AssertionError, match="kinds that were enqueued: send"):
        leasehold_kit.enqueued(send_later)


def test_time_travels_to_delayed_jobs_and_over_back_offs(leasehold_kit: Kit) -> None:
    kit = leasehold_kit
    delayed = kit.enqueue(send.new("ada").but(delay=timedelta(days=2)))
    failing = kit.enqueue(fails_once.new())
    assert [(job.id, job.attempt) for job in kit.drain()] == [(failing, 1)]
    assert kit.get(failing).state == "scheduled"
    kit.travel(days=1, hours=1)
    assert [(job.id, job.output) for job in kit.drain()] == [(failing, 2)]
    kit.travel(days=1)
    assert [job.id for job in kit.drain()] == [delayed]


async def test_a_trio_test_uses_it_beside_a_client_of_its_own(leasehold_kit: Kit) -> None:
    async with open_client(leasehold_kit.url, app=app) as client:
        job_id = await client.enqueue(send.new("ada"))
        leasehold_kit.drain()
        assert await client.wait(job_id) == "ada 1"


def test_an_asyncio_test_uses_it_beside_a_client_of_its_own(leasehold_kit: Kit) -> None:
    async def test() -> None:
        async with open_client(leasehold_kit.url, app=app) as client:
            job_id = await client.enqueue(send.new("ada"))
            leasehold_kit.drain()
            assert await client.wait(job_id) == "ada 1"

    asyncio.run(test())
