"""Handlers that outlast a failover: `leasehold run worker --app tests.support.failover_app:app`."""

from __future__ import annotations

import os
import time

import psycopg
import trio

from leasehold import App, Job

app = App()


@app.kind()
async def quick(job: Job) -> int:
    """End at once, with the attempt."""
    return job.attempt


@app.kind()
async def say_who(job: Job, who: int) -> int:
    """Write who it is to `public.effects`, in the commit that completes the job."""
    async with job.complete() as tx:
        await tx.execute("insert into public.effects values ($1, $2)", job.id, who)
    return who


@app.kind()
async def hold_until_told(who: int) -> int:
    """Hold until there is a table `public.told`."""
    await trio.to_thread.run_sync(_until_told)
    return who


@app.kind()
async def told_to_end(who: int) -> int:
    """End by returning when told, whatever was lost meanwhile."""
    with trio.CancelScope(shield=True):
        await trio.to_thread.run_sync(_until_there)
    return who


@app.kind()
def told_to_end_in_a_thread(job: Job, who: int) -> int:
    """Complete the job over a connection of its own when the database is there again, with what it was told at its start."""
    values = job.completion(output=who)
    _until_there()
    with psycopg.connect(os.environ["LEASEHOLD_DATABASE_URL"]) as connection:
        connection.execute("insert into public.effects values (%s, %s)", (job.id, who))
        connection.execute("select leasehold.complete_job(%s, %s, %s, %s, %s)", tuple(values))
    return who


def _until_told() -> None:
    """Until somebody has made the table that says so."""
    _until("to_regclass('public.told') is not null")


def _until_there() -> None:
    """Until the database is another server than at first."""
    _until("pg_walfile_name(pg_current_wal_lsn()) not like '00000001%'")


def _until(question: str) -> None:
    while True:
        try:
            with psycopg.connect(os.environ["LEASEHOLD_DATABASE_URL"], autocommit=True) as connection:
                while not connection.execute(f"select 1 where {question}".encode()).fetchone():
                    time.sleep(0.05)
                return
        except psycopg.Error:  # whatever a server says that is about to go or to come
            time.sleep(0.05)
