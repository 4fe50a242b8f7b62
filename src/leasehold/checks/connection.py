"""The way to Postgres: which one it is, poolers, notifications, clocks, connections."""

from __future__ import annotations

import asyncio
import secrets
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import TYPE_CHECKING

from leasehold.checks.verdicts import Check, advise, ok, problem, skipped
from leasehold.errors import DatabaseUnavailable, ListenerDeaf
from leasehold.observability.logs import redact_dsn

if TYPE_CHECKING:
    from leasehold.database import Database, Row
    from leasehold.settings import Settings

OLDEST_POSTGRES = 15
PING_SECONDS = 5
MOST_SKEW_SECONDS = 1.0
MUCH_USED, NEARLY_ALL_USED = 0.75, 0.9
FULL_QUEUE = 0.5

SERVER = """
select current_setting('server_version_num')::int / 10000 as major, current_setting('server_version') as version,
       current_database() as database, pg_is_in_recovery() as is_standby,
       current_setting('default_transaction_read_only')::boolean as is_read_only,
       current_setting('default_transaction_isolation') as isolation
"""
IDENTITY = "select current_database() as name, pg_postmaster_start_time() as server_started_at"
CLOCKS = """
select clock_timestamp() as wall, nullif(current_setting('leasehold.frozen_clock', true), '') as frozen
"""
SET_BACK = """
select false as is_noticed, t.taken_at - c.now as by, null::timestamptz as at
  from leasehold.reap_turns t, (select leasehold.clock() as now) c where t.taken_at > c.now + interval '1 second'
union all
select true, t.set_back_by, t.set_back_at from leasehold.reap_turns t where t.set_back_at > leasehold.clock() - interval '1 day'
"""
CONNECTIONS = """
select count(*) filter (where backend_type = 'client backend') as used,
       count(*) filter (where backend_type = 'client backend' and application_name like 'leasehold%') as ours,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most
  from pg_stat_activity
"""
QUEUE_USAGE = "select pg_notification_queue_usage() as share"
# Its commit waits for no standby.
PING = "select pg_notify($1, 'ping'), set_config('synchronous_commit', 'off', true)"
POOLERS = {
    "none": "none, Postgres itself answers",
    "tracking": "one that keeps track of prepared statements",
    "blind": "one that lends server connections and forgets prepared statements; each statement is sent whole",
}


async def check_server(database: Database, place: str) -> Check:
    """Old enough, and one that can be written to, in transactions as we need them. `place` says where it is."""
    [row] = await database.fetch(SERVER)
    detail = f"Postgres {row['version']}, database {row['database']}; {place}"
    if row["major"] < OLDEST_POSTGRES:
        return problem("database", detail, f"use Postgres {OLDEST_POSTGRES} or newer")
    if row["is_standby"]:
        return problem("database", f"{detail}, a read-only standby", "name the primary in LEASEHOLD_DATABASE_URL")
    if row["is_read_only"]:
        detail += ", default_transaction_read_only = on"
        return problem(
            "database", detail, "set it off for our role: alter role … set default_transaction_read_only = off"
        )
    if row["isolation"] != "read committed":
        detail += f", default_transaction_isolation = {row['isolation']}"
        advice = "leasehold needs read committed: alter role … set default_transaction_isolation = 'read committed'"
        return problem("database", detail, advice)
    return ok("database", detail)


async def check_pooler(database: Database, settings: Settings) -> Check:
    """Whether a pooler is in front, and where notifications then come from."""
    [here] = await database.fetch(IDENTITY)
    found = database.pooler.value if database.pooler else "none"
    if settings.direct_database_url and (wrong := await _judge_direct(database, settings.direct_database_url, here)):
        return wrong
    if found == "none":
        if settings.direct_database_url:
            advice = "LEASEHOLD_DIRECT_DATABASE_URL is for a pooler in LEASEHOLD_DATABASE_URL; leave it out"
            return advise("pooler", f"{POOLERS[found]}, although a direct connection is configured as well", advice)
        return ok("pooler", POOLERS[found])
    if settings.direct_database_url or not settings.notify:
        return ok("pooler", f"{POOLERS[found]}; " + ("LISTEN goes past it" if settings.notify else "we only poll"))
    advice = "name a connection past the pooler in LEASEHOLD_DIRECT_DATABASE_URL, for LISTEN and for migrations"
    return advise("pooler", POOLERS[found], advice)


async def _judge_direct(database: Database, dsn: str, here: Row) -> Check | None:
    """What is wrong with the direct connection, if anything."""
    shown = f"LEASEHOLD_DIRECT_DATABASE_URL ({redact_dsn(dsn)})"
    try:
        there, is_direct = await database.in_asyncio(_look_past, dsn)
    except DatabaseUnavailable as error:
        return problem(
            "pooler", f"{shown} does not answer: {error}", "without it no notifications arrive; correct or remove it"
        )
    if tuple(here) != tuple(there):
        detail = f"{shown} leads to another database ({there['name']}) than LEASEHOLD_DATABASE_URL ({here['name']})"
        return problem("pooler", detail, "both must lead to the same database of the same server")
    if not is_direct:
        return problem("pooler", f"{shown} leads through a pooler, too", "name the address of Postgres itself there")
    return None


async def _look_past(dsn: str) -> tuple[Row, bool]:
    """What a direct connection leads to, and whether Postgres itself answers there."""
    from leasehold.database import open_asyncio_database  # noqa: PLC0415

    async with open_asyncio_database(dsn, pool_size=1, timeout=PING_SECONDS) as direct:
        [there] = await direct.fetch(IDENTITY)
        return there, direct.pooler is not None and direct.pooler.value == "none"


async def check_notify(database: Database, settings: Settings) -> Check:
    """A notification that another connection sends reaches one that listens."""
    if not settings.notify:
        return skipped("notify", "LEASEHOLD_NOTIFY is off: workers only poll")
    [queue] = await database.fetch(QUEUE_USAGE)
    if queue["share"] > FULL_QUEUE:
        detail = f"the queue of notifications is {queue['share']:.0%} full; once it is, every NOTIFY fails"
        return problem("notify", detail, "a session that listens is stuck: look for old ones in pg_stat_activity")
    deaf = "name a direct connection in LEASEHOLD_DIRECT_DATABASE_URL, or set LEASEHOLD_NOTIFY=off to poll only"
    try:
        took = await database.in_asyncio(_ping, database)
    except ListenerDeaf:
        return problem("notify", "the pooler keeps notifications away, so workers only poll", deaf)
    if took is None:
        return problem("notify", f"no notification came within {PING_SECONDS} s", deaf)
    return ok("notify", f"a notification came from one connection to another in {took:.1f} ms")


async def _ping(database: Database) -> float | None:
    """Milliseconds of a notification from one connection to another; None if it does not come. Raises ListenerDeaf."""
    from leasehold.database.connector import close_connection  # noqa: PLC0415

    channel, received = f"leasehold_{secrets.token_hex(8)}", asyncio.Event()
    connection = await database.open_listening(channel, lambda _payload: received.set(), lambda: None)
    try:
        began = perf_counter()
        await database.fetch(PING, channel)
        async with asyncio.timeout(PING_SECONDS):
            await received.wait()
        return (perf_counter() - began) * 1000
    except TimeoutError:
        return None
    finally:
        await close_connection(connection)


async def check_clock(database: Database, *, has_books: bool = True) -> Check:
    """The clock of the database is not frozen, was not set back lately, and the one of this machine does not differ much.
    `has_books`: ours are there to look at."""
    before = datetime.now(UTC)
    [row] = await database.fetch(CLOCKS)
    after = datetime.now(UTC)
    if row["frozen"]:
        detail = f"frozen at {row['frozen']}: nothing ever becomes due, no lease ever ends"
        advice = "leasehold.frozen_clock is for tests: alter database … reset leasehold.frozen_clock, or the same for the role"
        return problem("clock", detail, advice)
    if has_books and (steps := await database.fetch(SET_BACK)):
        return judge_step(steps[0])
    return judge_skew(certain_skew(before, row["wall"], after))


def judge_step(step: Row) -> Check:
    """A clock that was set back, and whether somebody has noticed."""
    detail = f"the clock of the database was set back by about {timedelta(seconds=round(step['by'].total_seconds()))}"
    if not step["is_noticed"]:
        return problem("clock", f"{detail}, and nobody has set the books anew", "start a reaper: leasehold run reaper")
    advice = "scheduled jobs and deadlines kept their times; run NTP with slewing on the database's machine"
    return advise("clock", f"{detail}; noticed at {step['at']:%Y-%m-%d %H:%M:%S}Z, and the books were set anew", advice)


def certain_skew(before: datetime, wall: datetime, after: datetime) -> float:
    """How far the database is ahead at the least, where an answer that shows `wall` was under way between the others."""
    return (wall - min(max(wall, before), after)).total_seconds()


def judge_skew(seconds: float) -> Check:
    """How far the database is ahead of this machine."""
    if abs(seconds) <= MOST_SKEW_SECONDS:
        return ok("clock", f"within {MOST_SKEW_SECONDS:g} s of this machine's")
    detail = f"the database is {abs(seconds):.1f} s {'ahead of' if seconds > 0 else 'behind'} this machine"
    return advise("clock", detail, "only the database's counts, but times in our logs differ: run NTP on both")


async def check_connections(database: Database) -> Check:
    """There are connections left."""
    [row] = await database.fetch(CONNECTIONS)
    return judge_connections(row["used"], row["most"], row["ours"])


def judge_connections(used: int, most: int, ours: int) -> Check:
    """How many of those that Postgres allows are in use."""
    detail = f"{used} of {most} in use, {ours} of them by leasehold"
    advice = "raise max_connections, run fewer workers with more slots each, or put PgBouncer in front"
    if used > most * NEARLY_ALL_USED:
        return problem("connections", detail, advice)
    if used > most * MUCH_USED:
        return advise("connections", detail, advice)
    return ok("connections", detail)
