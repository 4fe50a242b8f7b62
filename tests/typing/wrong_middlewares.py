"""Middlewares, their context and subscribers that the type checker has to refuse, and those that it must accept."""

from __future__ import annotations

from typing import Any

from leasehold import App, Attempt, CallNext, Job
from leasehold.events import Event, JobCompleted, JobFailed


class Session:
    name: str = ""


app = App()


@app.middleware
async def with_session(attempt: Attempt, call_next: CallNext) -> Any:
    attempt.context[Session] = Session()
    return await call_next()


@app.kind(middlewares=[with_session])
async def work(job: Job) -> str:
    wrong: int = job.context[Session].name  # refused: reportAssignmentType
    return f"{wrong} {job.context[Session].nam}"  # refused: reportAttributeAccessIssue


async def takes_no_call_next(attempt: Attempt) -> Any:
    return attempt


def is_not_async(attempt: Attempt, call_next: CallNext) -> int:
    return attempt.job.id


def completed(event: JobCompleted) -> None:
    print(event.ran_for)


def anything(event: Event) -> None:
    print(event)


App(middlewares=[with_session])
app.subscribe(JobCompleted, completed)
app.subscribe(JobFailed, anything)
app.subscribe(JobFailed, lambda event: print(event.error["type"]))

app.middleware(takes_no_call_next)  # refused: reportArgumentType
app.kind(middlewares=[is_not_async])  # refused: reportArgumentType
app.subscribe(JobFailed, completed)  # refused: reportArgumentType
app.subscribe(int, print)  # refused: reportArgumentType
