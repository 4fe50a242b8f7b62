"""A user's app: both type checkers accept every line of it, and agree on its types."""

from __future__ import annotations

from typing import assert_type

import leasehold.sync
from leasehold import App, Client, ContinueWith, Job, NewJob

app = App(runs="asyncio")


@app.kind()
async def ship(order: int) -> str:
    return f"shipped {order}"


@app.kind()
async def pay(job: Job, order: int) -> ContinueWith[str]:
    return job.continue_with(ship.new(order))


@app.kind()
def pay_in_a_thread(job: Job, order: int) -> ContinueWith[str]:
    return job.continue_with(ship.new(order))


@app.kind
async def pay_without_job(order: int) -> ContinueWith[str]:
    return ContinueWith(ship.new(order))


@app.kind
def pay_in_a_thread_without_job(order: int) -> ContinueWith[str]:
    return ContinueWith(ship.new(order))


@app.kind()
async def pay_if_needed(job: Job, order: int) -> str | ContinueWith[str]:
    return job.continue_with(ship.new(order)) if order else "nothing to pay"


@app.kind()
def pay_if_needed_in_a_thread(job: Job, order: int) -> str | ContinueWith[str]:
    return job.continue_with(ship.new(order)) if order else "nothing to pay"


@app.kind(runs="thread")
def count(numbers: list[int]) -> int:
    return sum(numbers)


@app.kind
async def nothing(job: Job) -> None:
    return None


assert_type(ship.new(1), NewJob[str])
assert_type(pay.new(order=1), NewJob[str])
assert_type(pay_in_a_thread.new(1), NewJob[str])
assert_type(pay_without_job.new(1), NewJob[str])
assert_type(pay_in_a_thread_without_job.new(1), NewJob[str])
assert_type(pay_if_needed.new(1), NewJob[str])
assert_type(pay_if_needed_in_a_thread.new(1), NewJob[str])
assert_type(count.new([1]), NewJob[int])
assert_type(nothing.new(), NewJob[None])
print(count([1, 2]))


async def print_outputs(client: Client, sync_client: leasehold.sync.Client) -> None:
    """Where an argument is an object, the kind must not have to be one of objects."""
    print(await client.wait(1, kind=ship))
    print(sync_client.wait(1, kind=count))
