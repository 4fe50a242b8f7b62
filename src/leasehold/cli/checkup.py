"""What the doctor looks at: each check reads and judges one thing."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, timedelta
from typing import TYPE_CHECKING

import trio

from leasehold.cli.results import Check
from leasehold.cli.services import schema_problem

if TYPE_CHECKING:
    from leasehold.database import Database
    from leasehold.migrations import SchemaState

OLDEST_POSTGRES = 15
WANTED_DAYS_AHEAD = 2
LONGEST_NAPTIME = 15
PING_SECONDS = 5
PARTITIONED = ("finished_jobs", "job_events")
PING_CHANNEL = "leasehold_doctor"

SERVER = """
select current_setting('server_version_num')::int / 10000 as major, current_setting('server_version') as version,
       current_database() as database, pg_is_in_recovery() as is_standby
"""
PARTITIONS = """
select partition.relname as name from pg_inherits join pg_class partition on partition.oid = inhrelid
 where inhparent in ('leasehold.finished_jobs'::regclass, 'leasehold.job_events'::regclass)
"""
TODAY = "select (now() at time zone 'UTC')::date as today"
NAPTIME = "select extract(epoch from current_setting('autovacuum_naptime')::interval)::int as seconds"
# What `leasehold audit` finds, as much of it as indexes tell.
OVERDUE = """
select (select count(*) from leasehold.jobs where state = 'scheduled' and run_at < now() - interval '1 minute')
     + (select count(*) from leasehold.jobs
         where state in ('claimed', 'running') and lease_expires_at < now() - interval '1 minute')
     + (select count(*) from leasehold.jobs where deadline < now() - interval '1 minute') as jobs
"""
AUTOVACUUM = "select current_setting('autovacuum')::boolean as is_on"


async def check_all(database: Database, state: SchemaState, place: str) -> list[Check]:
    """Every check on an open database, in the order in which one depends on another. `place` says where it is."""
    schema = check_schema(state)
    can_look_inside = schema.verdict == "ok"
    partitions = await check_partitions(database) if can_look_inside else _skipped("partitions")
    jobs = await check_jobs(database) if can_look_inside else _skipped("jobs")
    return [
        await check_server(database, place),
        schema,
        partitions,
        jobs,
        await check_notify(database),
        await check_autovacuum(database),
    ]


async def check_server(database: Database, place: str) -> Check:
    """Old enough, and one that can be written to."""
    [row] = await database.fetch(SERVER)
    detail = f"Postgres {row['version']}, database {row['database']}; {place}"
    if row["major"] < OLDEST_POSTGRES:
        return _problem("database", detail, f"use Postgres {OLDEST_POSTGRES} or newer")
    if row["is_standby"]:
        return _problem("database", f"{detail}, a read-only standby", "name the primary in LEASEHOLD_DATABASE_URL")
    return _ok("database", detail)


def check_schema(state: SchemaState) -> Check:
    """The schema fits this code, and its views and functions are the ones of this code."""
    problem = schema_problem(state)
    if problem:
        detail, _, advice = problem.partition(": ")
        return _problem("schema", detail, advice)
    if state.differing:
        detail = f"version {state.version}, but not as in this code: {', '.join(state.differing)}"
        return _problem("schema", detail, "run `leasehold migrate`, unless another version of leasehold is in use, too")
    return _ok("schema", f"version {state.version}")


async def check_partitions(database: Database) -> Check:
    """Partitions exist for the coming days."""
    names = {row["name"] for row in await database.fetch(PARTITIONS)}
    [row] = await database.fetch(TODAY)
    return judge_days(days_with_partitions(names, row["today"]))


def days_with_partitions(names: Collection[str], today: date) -> int:
    """Days from today on, without a gap, that have a partition of both tables."""
    days = 0
    while all(f"{parent}_{today + timedelta(days=days):%Y%m%d}" in names for parent in PARTITIONED):
        days += 1
    return days


def judge_days(days: int) -> Check:
    """Enough partitions ahead, or not."""
    detail = f"made for {days} days from today on"
    if days >= WANTED_DAYS_AHEAD:
        return _ok("partitions", detail)
    return _problem("partitions", detail, "is a reaper running? By hand: select leasehold.ensure_partitions()")


async def check_jobs(database: Database) -> Check:
    """Nothing is overdue for long."""
    [row] = await database.fetch(OVERDUE)
    if not row["jobs"]:
        return _ok("jobs", "none is overdue")
    return _problem("jobs", f"{row['jobs']} overdue, and no worker or reaper sees to it", "look at `leasehold audit`")


async def check_notify(database: Database) -> Check:
    """A notification that we send comes back to us."""
    async with database.listen(PING_CHANNEL) as listening:
        started = trio.current_time()
        await listening.notify(PING_CHANNEL, "ping", PING_SECONDS)
        with trio.move_on_after(PING_SECONDS):
            async for _ in listening.payloads:
                return _ok("notify", f"a notification came back after {(trio.current_time() - started) * 1000:.1f} ms")
    advice = "connect directly or through a session pool, or set LEASEHOLD_NOTIFY=off to do without"
    return _problem("notify", f"no notification came back within {PING_SECONDS} s", advice)


async def check_autovacuum(database: Database) -> Check:
    """Autovacuum looks often enough for a table that changes as fast as `jobs`."""
    [row] = await database.fetch(AUTOVACUUM)
    if not row["is_on"]:
        return _problem("autovacuum", "is off: the table of jobs only ever grows", "set autovacuum = on")
    seconds = int((await database.fetch(NAPTIME))[0]["seconds"])
    if seconds <= LONGEST_NAPTIME:
        return _ok("autovacuum", f"looks every {seconds} s")
    advice = f"for thousands of jobs a second set autovacuum_naptime = {LONGEST_NAPTIME}s or less"
    return Check(name="autovacuum", verdict="advice", detail=f"looks every {seconds} s", advice=advice)


def _ok(name: str, detail: str) -> Check:
    return Check(name=name, verdict="ok", detail=detail)


def _problem(name: str, detail: str, advice: str) -> Check:
    return Check(name=name, verdict="problem", detail=detail, advice=advice)


def _skipped(name: str) -> Check:
    return Check(name=name, verdict="skipped", detail="not looked at, for the schema does not fit")
