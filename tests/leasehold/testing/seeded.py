"""Handlers that move money wrongly when their process dies at a bad moment, and some that do not.

Each pays one account from another; the books balance if one payment left exactly one trace in each of the tables.
"""

from __future__ import annotations

import os

import psycopg

from leasehold import App, Job

app = App()
SCHEMA = (
    "create table balances (account text primary key, amount integer not null)",
    "insert into balances values ('ada', 100), ('bob', 0)",
    "create table payments (job_id bigint, amount integer)",
    "create table paid (job_id bigint primary key)",
)
MOVE = "update balances set amount = amount - 10 where account = 'ada'"
RECEIVE = "update balances set amount = amount + 10 where account = 'bob'"
PAYMENT = "insert into payments values ($1, 10)"


def own() -> psycopg.Connection:
    """A connection of the handler's own, each statement of which is a commit."""
    return psycopg.connect(os.environ["BOOKS_URL"], autocommit=True)


def pay(connection: psycopg.Connection, job: Job) -> None:
    connection.execute("insert into payments values (%s, 10)", (job.id,))


@app.kind
def bad_marks_after(job: Job) -> None:
    with own() as connection:
        if connection.execute("select from paid where job_id = %s", (job.id,)).fetchone():
            return
        pay(connection, job)
        connection.execute("insert into paid values (%s)", (job.id,))


@app.kind
async def bad_prepares_and_completes(job: Job) -> None:
    async with job.prepare() as tx:
        await tx.execute(PAYMENT, job.id)
    async with job.complete() as tx:
        await tx.execute(MOVE)


@app.kind(runs="asyncio")
async def bad_under_asyncio(job: Job) -> None:
    async with job.prepare() as tx:
        await tx.execute(PAYMENT, job.id)
    print("paid")


@app.kind
def bad_in_a_helper(job: Job) -> None:
    charge(job)


def charge(job: Job) -> None:
    with own() as connection:
        pay(connection, job)


@app.kind
async def bad_beside_the_completion(job: Job) -> None:
    async with job.complete() as tx:
        await tx.execute(MOVE)
        await tx.execute(RECEIVE)
        with own() as connection:
            pay(connection, job)


@app.kind
async def good_complete(job: Job) -> None:
    async with job.complete() as tx:
        await tx.execute(MOVE)
        await tx.execute(RECEIVE)
        await tx.execute(PAYMENT, job.id)


@app.kind(runs="asyncio")
async def good_complete_under_asyncio(job: Job) -> None:
    async with job.complete() as tx:
        await tx.execute(MOVE)
        await tx.execute(RECEIVE)


@app.kind
def good_complete_in_a_thread(job: Job) -> None:
    with job.complete() as tx:
        tx.execute(MOVE)
        tx.execute(RECEIVE)


@app.kind(mode="atomic")
async def good_atomic(job: Job) -> None:
    await job.transaction.execute(MOVE)
    await job.transaction.execute(RECEIVE)


@app.kind
def good_one_commit(job: Job) -> None:
    with own() as connection, connection.transaction():
        first = "insert into paid values (%s) on conflict do nothing returning 1"
        if connection.execute(first, (job.id,)).fetchone() is not None:
            connection.execute(MOVE)
            connection.execute(RECEIVE)
