"""What a chain ends with, as the type checker sees it: from the handlers to whoever waits for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_type

from leasehold import (
    QUEUED,
    App,
    Blocker,
    Completion,
    CompletionValues,
    ContinueWith,
    Job,
    JobTransaction,
    Kind,
    NewJob,
    Unique,
)

app = App()


@dataclass
class Receipt:
    number: int


@app.kind()
async def ship(order: int) -> float:
    return 1.0


@app.kind()
async def pay(job: Job, order: int) -> str | ContinueWith[float]:
    return job.continue_with(ship.new(order)) if order else "nothing to pay"


@app.kind(runs="thread")
def order(job: Job, number: int) -> ContinueWith[float | str]:
    with job.complete() as tx:
        tx.execute("insert into orders values ($1)", number)
    return job.continue_with(pay.new(number), blockers=[ship.new(1), 42])


@app.kind()
async def loop(job: Job, n: int) -> int | ContinueWith[int]:
    return job.continue_with(loop.new(n - 1)) if n else 0


@app.kind()
async def says_something_else(job: Job) -> str | ContinueWith[str]:
    return job.continue_with(ship.new(order=1))  # refused: reportReturnType


@app.kind()
async def forgets_the_await(job: Job) -> str:
    with job.complete() as tx:
        tx.fetch("select 1")
    async with job.complete() as transaction:
        transaction.fetch("select 1")  # refused: reportUnusedCoroutine
        await transaction.continue_with(ship.new(1))  # refused: reportGeneralTypeIssues
    job.continue_with(ship.new(order="seven"))  # refused: reportArgumentType
    raise job.wait_for([ship.new(1), "two"])  # refused: reportArgumentType


@app.kind()
async def fan_in(job: Job) -> int:
    assert_type(await job.blockers(), list[Any])
    assert_type(await job.blockers(Receipt), list[Receipt])
    assert_type(await job.blockers(Receipt | None), list[Receipt | None])
    texts: list[str] = await job.blockers(Receipt)  # refused: reportAssignmentType
    return len(texts)


@app.kind()
def over_my_own_driver(job: Job) -> ContinueWith[float]:
    assert_type(job.blockers_sync(int), list[int])
    end = job.continue_with(ship.new(order=1))
    values: CompletionValues = job.completion(continuation=end)
    job.completion(continuation=ship.new(order=1))  # refused: reportArgumentType
    print(values.output, *job.completion({"paid": 1}))
    return end


async def helper(tx: JobTransaction | Completion, unique: Unique, blockers: Sequence[Blocker]) -> None:
    await tx.execute("select 1")
    ship.new(order=1).but(unique=unique, blockers=blockers)
    Unique(states=QUEUED)


assert_type(ship.new(order=1), NewJob[float])
assert_type(pay.new(order=1), NewJob[float | str])
assert_type(order.new(number=1), NewJob[float | str])
assert_type(loop.new(n=3), NewJob[int])
any_jobs: list[NewJob] = [ship.new(1), NewJob(kind="mail")]
kinds: list[Kind[..., Any]] = [ship, pay, order, loop]
ship_in_text: NewJob[str] = ship.new(1)  # refused: reportAssignmentType
