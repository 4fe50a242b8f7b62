"""Calls that the type checker has to refuse, each marked with the rule that says so, and calls that it must accept."""

from __future__ import annotations

from datetime import timedelta
from typing import assert_type

from leasehold import App, Client, Job, JobOptions, NewJob

app = App()


@app.kind()
async def with_job(job: Job, address: str, copies: int = 1) -> str:
    return f"{job.id} {address} {copies}"


@app.kind()
async def without_job(address: str) -> str:
    return address


@app.kind(runs="thread")
def in_a_thread(job: Job, numbers: list[int]) -> int:
    return sum(numbers) + job.attempt


accepted: list[NewJob] = [
    with_job.new("a@example.org"),
    with_job.new(address="a@example.org", copies=2),
    without_job.new(address="a@example.org"),
    in_a_thread.new(numbers=[1, 2]),
]

with_job.new(address=7)  # refused: reportArgumentType
with_job.new(adress="a@example.org")  # refused: reportCallIssue
with_job.new()  # refused: reportCallIssue
without_job.new(address="a@example.org", copies=2)  # refused: reportCallIssue
in_a_thread.new(numbers=["one"])  # refused: reportArgumentType
in_a_thread.new(numbers=[1], job=1)  # refused: reportCallIssue


assert_type(with_job.new("a").but(delay=timedelta(minutes=1), queue="slow", timeout=2.5, blockers=[7]), NewJob[str])
with_job.new("a").but(dealy=1)  # refused: reportCallIssue
with_job.new("a").but(priority="high")  # refused: reportArgumentType
in_a_thread.new([1]).but(run_at=60)  # refused: reportArgumentType
said: NewJob[int] = with_job.new("a").but(queue="slow")  # refused: reportAssignmentType


async def outputs(client: Client) -> None:
    text: str = await client.wait(1, kind=without_job)
    total: int = await client.wait(1, kind=in_a_thread, timeout=5)
    wrong: int = await client.wait(1, kind=without_job)  # refused: reportAssignmentType
    print(text, total, wrong, await client.wait(1))


@app.kind
async def bare(job: Job, address: str) -> str:
    return address


@app.kind
def bare_in_a_thread(numbers: list[int]) -> int:
    return sum(numbers)


assert_type(bare.new(address="a"), NewJob[str])
assert_type(bare_in_a_thread.new([1]), NewJob[int])
bare.new(address=7)  # refused: reportArgumentType
bare.new(job=1)  # refused: reportCallIssue
app.kind(runs="asynco")  # refused: reportArgumentType
app.kind(timeout=timedelta(seconds=5), deadline=60)
bare.new("a").but(deadline=12)


app.kind(timout=5)  # refused: reportCallIssue
app.kind(retry="often")  # refused: reportArgumentType
app.kind(unique=None, retry=None, middlewares=[])


async def with_options(client: Client, options: JobOptions) -> None:
    one: int = await client.enqueue(bare.new("a"), queue="slow", delay=timedelta(minutes=1), metadata={"by": "me"})
    two: int = await client.enqueue("bare", {"address": "a"}, **options)
    await client.enqueue(bare.new("a"), dealy=1)  # refused: reportCallIssue
    await client.enqueue(bare.new("a"), priority="high")  # refused: reportArgumentType
    await client.enqueue(bare.new("a"), fingerprint="f")  # refused: reportCallIssue
    print(one, two)
