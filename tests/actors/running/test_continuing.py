"""Handlers that continue their chain, start others, and wait for others."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from leasehold import App, ContinueWith, Discard, Job, NewJob, ended
from leasehold.errors import BadInput
from leasehold.jobs.job_host import Token
from tests.support.held import held_job
from tests.support.waiting import until
from tests.support.working import working

FLAVOURS: list[Any] = ["trio", "asyncio", "thread"]


class Part(msgspec.Struct, frozen=True):
    """An output of a type of one's own."""

    n: int
    took: timedelta


async def chain_of(running: Any, job_id: int) -> list[tuple[str, str, Any]]:
    """Kind, state and output of the links of a chain, once its last one has finished."""

    async def links() -> list[Any]:
        return await running.database.fetch(
            "select kind, state, output, succeeded_by from leasehold.finished_jobs"
            " where coalesce(chain_id, id) = $1 order by coalesce(chain_position, 0)",
            job_id,
        )

    last = job_id
    while True:
        await running.finished(last)
        rows = await links()
        if rows[-1]["succeeded_by"] is None:
            return [(row["kind"], row["state"], row["output"]) for row in rows]
        last = rows[-1]["succeeded_by"]


async def test_a_fan_in_may_go_on_without_the_parts_that_failed(database_url: str) -> None:
    app = App()

    @app.kind()
    async def part(n: int) -> int:
        if n == 1:
            raise Discard("cannot be read")
        return n * 10

    @app.kind()
    async def total(job: Job) -> list[int | None]:
        return await job.blockers(int | None)

    @app.kind()
    async def fan(job: Job) -> ContinueWith[list[int | None]]:
        return job.continue_with(total.new(), blockers=[ended(part.new(n)) for n in range(3)])

    async with working(database_url, app) as running:
        job_id = await running.client.enqueue(fan.new())
        assert [link[1:] for link in await chain_of(running, job_id)] == [
            ("completed", None),
            ("completed", "[0, null, 20]"),
        ]


async def test_a_chain_goes_on_until_a_handler_returns_an_output(database_url: str) -> None:
    app = App()
    seen: list[tuple[int, int]] = []

    @app.kind()
    async def ship(job: Job, order: int) -> str:
        seen.append((job.chain_id, job.chain_position))
        return f"shipped {order}"

    @app.kind()
    def pay(job: Job, order: int) -> ContinueWith[str]:
        seen.append((job.chain_id, job.chain_position))
        return job.continue_with(ship.new(order))

    @app.kind(runs="asyncio")
    async def order(job: Job, number: int) -> ContinueWith[str]:
        await asyncio.sleep(0)
        seen.append((job.chain_id, job.chain_position))
        return job.continue_with(pay.new(order=number))

    async with working(database_url, app) as running:
        job_id = await running.client.enqueue(order.new(number=7))
        assert await chain_of(running, job_id) == [
            ("order", "completed", None),
            ("pay", "completed", None),
            ("ship", "completed", '"shipped 7"'),
        ]
        assert seen == [(job_id, 0), (job_id, 1), (job_id, 2)]
        await until(lambda: running.worker.parts.settler.statistics().completed == 3)


async def test_a_chain_may_loop_and_branch(database_url: str) -> None:
    app = App()

    @app.kind()
    async def even(n: int) -> str:
        return f"even {n}"

    @app.kind()
    async def halve(job: Job, n: int) -> str | ContinueWith[str]:
        if n == 1:
            return "one"
        if n % 2:
            return ContinueWith(even.new(n + 1))
        return job.continue_with(halve.new(n // 2))

    async with working(database_url, app) as running:
        first = await running.client.enqueue(halve.new(n=8))
        second = await running.client.enqueue(halve.new(n=6))
        assert [kind for kind, _, _ in await chain_of(running, first)] == ["halve"] * 4
        assert (await chain_of(running, second))[-1] == ("even", "completed", '"even 4"')


async def test_a_handler_fans_out_and_the_next_job_sees_the_outputs_in_order(database_url: str) -> None:
    app = App()

    @app.kind()
    async def parse(page: int) -> int:
        return page * 10

    @app.kind()
    async def report(job: Job) -> list[int]:
        return await job.blockers()

    @app.kind()
    async def split(job: Job, pages: int) -> ContinueWith[list[int]]:
        return job.continue_with(report.new(), blockers=[parse.new(page) for page in range(pages)])

    async with working(database_url, app) as running:
        job_id = await running.client.enqueue(split.new(pages=20))
        links = await chain_of(running, job_id)
        assert links[-1] == ("report", "completed", str([page * 10 for page in range(20)]))


async def test_a_handler_waits_for_jobs_it_found_out_about_without_counting_the_attempt(database_url: str) -> None:
    app = App()

    @app.kind()
    async def part(n: int) -> int:
        return n * n

    async def total(job: Job) -> Any:
        parts = await job.blockers()
        if not parts:
            raise job.wait_for([part.new(n) for n in range(5)])
        return [job.attempt, sum(parts)]

    def total_in_thread(job: Job) -> Any:
        parts = job.blockers_sync()
        if not parts:
            raise job.wait_for([part.new(n) for n in range(5)])
        return [job.attempt, sum(parts)]

    for runs in FLAVOURS:
        app.kind(runs, runs=runs, max_attempts=1)(total_in_thread if runs == "thread" else total)
    async with working(database_url, app) as running:
        for runs in FLAVOURS:
            job = await running.run(runs)
            assert (job.state, job.output) == ("completed", [2, 30])


async def test_outputs_are_typed_where_a_type_is_asked_for_and_what_does_not_fit_is_named(database_url: str) -> None:
    app = App()

    @app.kind()
    async def part(n: int) -> Part | str:
        return Part(n, timedelta(seconds=n)) if n else "none"

    def add(parts: list[Part]) -> Any:
        return [[type(each).__name__, each.n, each.took.total_seconds()] for each in parts]

    async def total(job: Job) -> Any:
        return add(await job.blockers(Part))

    def total_in_thread(job: Job) -> Any:
        return add(job.blockers_sync(Part))

    for runs in FLAVOURS:
        app.kind(runs, runs=runs, max_attempts=1)(total_in_thread if runs == "thread" else total)
    async with working(database_url, app) as running:
        for runs in FLAVOURS:
            job = await running.run(runs, blockers=[part.new(2), part.new(1)])
            assert (job.state, job.output) == ("completed", [["Part", 2, 2.0], ["Part", 1, 1.0]])
            job = await running.run(runs, blockers=[part.new(2), part.new(0)], max_attempts=1)
            assert (job.state, job.error["type"]) == ("failed", "BadInput")
            [_, named] = await running.client.jobs.blockers(job.id)
            said = f"the output of blocker 2, chain {named.chain_id}, does not fit Part: Expected `object`, got `str`"
            assert job.error["message"] == said


async def test_waiting_for_chains_that_have_completed_already_runs_the_job_again_at_once(database_url: str) -> None:
    app = App()

    @app.kind()
    async def part() -> str:
        return "part"

    @app.kind()
    async def whole(job: Job, chain: int) -> list[str] | Any:
        if job.attempt == 1:
            return job.wait_for([chain])
        return await job.blockers()

    async with working(database_url, app) as running:
        done = await running.run("part")
        job = await running.run("whole", {"chain": done.id})
        assert (job.state, job.output) == ("completed", ["part"])


async def test_a_completion_starts_chains_of_their_own_and_a_failure_does_not(database_url: str) -> None:
    app = App()

    @app.kind()
    async def mail(to: str) -> None: ...

    @app.kind(max_attempts=1)
    async def sign_up(job: Job, fails: bool) -> str:
        job.start(mail.new("ada"), mail.new("bob"))
        if fails:
            raise ValueError("no")
        return "welcome"

    async with working(database_url, app) as running:
        assert (await running.run("sign_up", {"fails": True}, max_attempts=1)).state == "failed"
        assert await running.client.jobs.list(kind="mail") == []
        assert (await running.run("sign_up", {"fails": False})).output == "welcome"
        assert len(await running.client.jobs.list(kind="mail")) == 2


async def test_ten_thousand_next_jobs_are_one_statement(database_url: str) -> None:
    app = App()

    @app.kind()
    async def split(job: Job) -> ContinueWith[None]:
        leaf = NewJob(kind="leaf", queue="elsewhere")
        return job.continue_with(NewJob(kind="join", queue="elsewhere"), blockers=[leaf] * 10_000)

    async with working(database_url, app, queues=["default"]) as running:
        await running.run("split")
        assert await running.database.fetch("select count(*) from leasehold.jobs where kind = 'leaf'") == [(10_000,)]
        [join] = await running.client.jobs.list(kind="join")
        assert join.state == "blocked"
        [slots] = await running.database.fetch(
            "select max(slot) from leasehold.job_blockers where job_id = $1", join.id
        )
        assert slots[0] == 10_000
        assert running.worker.parts.settler.statistics().statements <= 3


async def test_a_continuation_that_is_not_returned_fails_the_job_rather_than_end_its_chain(database_url: str) -> None:
    app = App()

    @app.kind(max_attempts=1)
    async def forgets(job: Job) -> str:
        job.continue_with(NewJob(kind="next"))
        return "oops"

    @app.kind(max_attempts=1)
    async def says_it_twice(job: Job) -> Any:
        job.continue_with(NewJob(kind="next"))
        return job.continue_with(NewJob(kind="next"))

    @app.kind(max_attempts=1)
    async def returns_a_new_job() -> Any:
        return NewJob(kind="next")

    @app.kind(max_attempts=1)
    async def returns_new_jobs(job: Job) -> Any:
        job.start(NewJob(kind="aside"))
        return [NewJob(kind="next")]

    async with working(database_url, app) as running:
        for kind, complaint in (
            ("forgets", "said and not returned"),
            ("says_it_twice", "said already"),
            ("returns_a_new_job", "a new job, which nobody would run"),
            ("returns_new_jobs", "a new job, which nobody would run"),
        ):
            job = await running.run(kind, max_attempts=1)
            assert job.state == "failed"
            assert complaint in job.error["message"]


async def test_a_continuation_that_cannot_be_written_fails_the_job_for_good(database_url: str) -> None:
    cases = [
        (NewJob(kind="next", args={"at": object()}), "args"),
        (NewJob(kind="next", delay=-1), "delay"),
        (NewJob(kind="next", blockers=[999]), "999"),
        (NewJob(kind="strict", args={"n": "one"}), "strict"),
        (NewJob(kind="next", idempotency_key="once"), "idempotency_key"),
    ]
    app = App()

    @app.kind()
    async def strict(n: int) -> None: ...

    @app.kind()
    async def first(job: Job, case: int) -> ContinueWith[Any]:
        return job.continue_with(cases[case][0])

    async with working(database_url, app) as running:
        for number, (_, complaint) in enumerate(cases):
            job = await running.run("first", {"case": number})
            assert (job.state, job.error["type"]) == ("failed", "InvalidContinuation")
            assert complaint in job.error["message"]


async def test_a_job_that_no_worker_made_says_what_it_cannot_do() -> None:
    job = held_job(3).job("w1")
    assert job.token == Token(3, 1, "00000000-0000-0000-0000-000000000001")
    assert job.continue_with(NewJob(kind="next")) == ContinueWith(NewJob(kind="next"))
    with pytest.raises(BadInput, match="no worker at hand"):
        job.complete()
