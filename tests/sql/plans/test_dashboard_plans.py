"""What the pages of the dashboard ask for reads no more of a database that is four times as large, whatever Postgres believed
to be in it when it made its plans. The handlers of the gateway are called as they are, on one connection whose pages are counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, cast

import msgspec

from benchmarks.filling import MARKS
from benchmarks.large import DAY, DAYS, EVENTS, FINISHED, FLEET, HELD, PENDING, SCHEDULES
from leasehold.client import Client
from leasehold.database import Database, ReservedConnection
from leasehold.gateway.access.guard import Guard
from leasehold.gateway.access.token_cache import TokenCache
from leasehold.gateway.route_table import OWN_ROUTES
from leasehold.gateway.routing.routes import Call, Route
from leasehold.gateway.serving.serve import services_of
from leasehold.settings import Settings
from tests.sql.plans.test_plans import work_of
from tests.support.sql_work import UNDISTURBED, statistics

PAGES = Path(__file__).parents[3] / "gateway" / "dashboard"
TABLES = ("jobs", "finished_jobs", "job_events", "rollups", "workers", "schedule_ticks")
SMALL, LARGE = 10_000, 40_000
QUEUE = "queue 3"

FORGET = """
delete from pg_statistic where starelid in (select oid from pg_class where relnamespace = 'leasehold'::regnamespace);
update pg_class set reltuples = -1, relpages = 0 where relnamespace = 'leasehold'::regnamespace and relkind in ('r', 'i')
"""
BOUNDED = {"/api/failures", "/api/failures/{fingerprint}"}
"""They read the newest 2000 failures of each sort, however many there are; here are fewer."""

BOOKS = """
insert into leasehold.rollup_progress select m, m, true from date_bin('1 minute', clock_timestamp(), 'epoch') m;
insert into leasehold.rollups (starts_at, seconds, queue, arrivals, starts, completed, failed, cancelled, retries, wait_seconds,
                               run_seconds, run_squares, waits, runs)
select m, 60, 'queue ' || q, 1, 1, 1, 0, 0, 0, 0.1, 0.1, 0.01, array_fill(0::bigint, array[29]), array_fill(0::bigint, array[29])
  from generate_series(0, 19) q,
       generate_series(date_bin('1 minute', clock_timestamp() - interval '3 hours', 'epoch'), clock_timestamp(), '1 minute') m;
insert into leasehold.rollup_totals (queue, since, arrivals, starts, completed, failed, cancelled, retries, wait_seconds,
                                     run_seconds, waits, runs)
select 'queue ' || q, clock_timestamp() - interval '3 days', 1, 1, 1, 0, 0, 0, 0.1, 0.1, array_fill(0::bigint, array[29]),
       array_fill(0::bigint, array[29])
  from generate_series(0, 19) q;
"""
"""The same for both sizes: what they cost does not depend on how many jobs there are."""

TICKS = SCHEDULES.replace("series(1, 500)", "series(1, 50)")

ASKED: Mapping[str, Mapping[str, object]] = {
    "/api/overview": {},
    "/api/troubles": {},
    "/api/kinds": {},
    "/api/jobs": {"limit": 50},
    "/api/jobs/{id}": {"id": "$finished"},
    "/api/jobs/{id}/why": {"id": "$pending"},
    "/api/jobs/{id}/timeline": {"id": "$finished"},
    "/api/jobs/{id}/errors": {"id": "$finished"},
    "/api/jobs/{id}/logs": {"id": "$finished"},
    "/api/jobs/{id}/progress": {"id": "$pending"},
    "/api/jobs/{id}/blockers": {"id": "$pending"},
    "/api/queues": {},
    "/api/queues/{queue}/why": {"queue": QUEUE},
    "/api/queues/{queue}/limits": {"queue": QUEUE},
    "/api/queues/{queue}/groups": {"queue": QUEUE},
    "/api/queues/{queue}/history": {"queue": QUEUE, "hours": 1, "points": 60},
    "/api/workers": {"stopped": True},
    "/api/leases": {},
    "/api/workers/{id}/commands": {"id": "$worker"},
    "/api/schedules": {"limit": 100},
    "/api/schedules/{name}": {"name": "schedule 7"},
    "/api/schedules/{name}/history": {"name": "schedule 7"},
    "/api/schedules/{name}/preview": {"name": "schedule 7"},
    "/api/schedule-history/recent": {"count": 20},
    "/api/jobs/capacity": {},
    "/api/jobs/capacity/{queue}": {"queue": QUEUE},
    "/api/jobs/capacity/{queue}/hindsight": {"queue": QUEUE},
    "/api/jobs/capacity/{queue}/what-if": {"queue": QUEUE},
    "/api/failures": {},
    "/api/failures/{fingerprint}": {"fingerprint": "0" * 16},
    "/api/chains": {"limit": 50},
    "/api/chains/{id}": {"id": "$chain"},
    "/api/chains/{id}/graph": {"id": "$chain"},
    "/api/chains/{id}/jobs": {"id": "$chain"},
    "/api/findings": {"if_small": True},
    "/api/payloads": {"limit": 50},
    "/api/egress": {},
    "/api/tokens": {},
    "/api/audit": {"limit": 50},
}
"""The addresses that pages ask for, with parameters; `$` names what is looked up."""

NOT_WEIGHED = {
    "/api/kinds/{kind}": "as /api/kinds, by the primary key; it fails where no app has declared the kind",
    "/api/session": "it asks for a token, which is remembered",
    "/api/events": "one reader for all streams; its looks are weighed by the benchmark `tabs`",
    "/api/doctor": "it examines the server at most once in ten seconds, whoever asks; tools/dashboard_costs.py weighs it",
    "/api/workers/{id}": "no page asks for it, only for what lies below; a row of /api/workers",
    "/api/payloads/store/{key}": "no page asks for it, only for what lies below; rows by an index, as /api/payloads",
    "/api/payloads/{id}": "a row by its key; needs a payload",
    "/api/payloads/{id}/data": "content of the store",
    "/api/payloads/store/{key}/diff": "content of the store",
    "/api/workers/k8s/replicas": "it asks Kubernetes",
}


def test_every_address_that_pages_ask_for_is_weighed_or_says_why_not() -> None:
    known = {route.path for route in OWN_ROUTES if route.method == "GET"}
    assert set(ASKED) | set(NOT_WEIGHED) <= known
    assert asked_by_pages() - set(ASKED) - set(NOT_WEIGHED) == set()


def asked_by_pages() -> set[str]:
    """The GET routes without a parameter that stand in the pages, and those with one whose beginning does."""
    text = "\n".join(file.read_text() for file in PAGES.rglob("*.js") if "vendor" not in file.parts)
    asked = set(re.findall(r"[\"`](/api/[a-z0-9/-]+)", text))
    parts = set(re.findall(r"part\(\"([a-z-]*)\"|}/([a-z-]+)[`\"?]", text))
    lasts = {last for pair in parts for last in pair if last}
    found: set[str] = set()
    for route in OWN_ROUTES:
        head, has_parameter, rest = route.path.partition("/{")
        last = rest.partition("}")[2].strip("/")
        is_asked = f"{head}/" in asked and (not last or last in lasts) if has_parameter else head in asked
        if route.method == "GET" and is_asked:
            found.add(route.path)
    return found


async def fill(connection: ReservedConnection, finished: int, first: int, pending: int) -> None:
    """More jobs of all sorts."""
    await connection.fetch(FINISHED, LARGE, first, finished, timeout=120.0)
    await connection.execute(MARKS)
    await connection.fetch(PENDING, 10_000_000 + finished, pending, timeout=120.0)


async def known(connection: ReservedConnection) -> Mapping[str, Any]:
    """What the addresses are about."""
    [row] = await connection.fetch("""
        select (select max(id) from leasehold.jobs where state = 'pending') as pending,
               (select min(id) from leasehold.finished_jobs where state = 'failed') as finished,
               (select min(chain_id) from leasehold.finished_jobs) as chain,
               (select min(incarnation::text) from leasehold.workers) as worker
    """)
    return {f"${name}": value for name, value in row.items()}


async def ask(route: Route, connection: ReservedConnection, names: Mapping[str, Any]) -> None:
    """Call the handler of a route."""

    client, settings, database = Client(connection), Settings(), cast("Database", connection)
    guard = Guard(settings, TokenCache(connection, monotonic), monotonic)
    services = services_of(settings, database, client, guard)
    given = {name: names.get(str(value), value) for name, value in ASKED[route.path].items()}
    parameters = msgspec.convert(given, route.parameters, strict=False)
    await route.handler(Call(services, parameters, None, {}))


async def pages_of(database: Database) -> dict[tuple[str, str], int]:
    """The pages that each address reads, by what Postgres knew."""
    found: dict[tuple[str, str], int] = {}
    routes = [route for route in OWN_ROUTES if route.method == "GET" and route.path in ASKED]
    for belief, script in statistics(*TABLES).items():
        await database.execute(FORGET if belief == "never analyzed" else script, timeout=120.0)
        async with database.reserve("weighed") as connection:
            await connection.execute("set leasehold.small_table = 1")
            await connection.call("measure_depths")
            await connection.call("measure_finished")
            names = await known(connection)
            for route in routes:
                work = await work_of(connection, partial(ask, route, connection, names))
                found[belief, route.path] = work.pages
    return found


async def test_no_page_reads_more_of_a_larger_database(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    async with database.reserve("filler") as connection:
        for day in range(DAYS, -1, -1):
            await connection.fetch(DAY, day)
            await connection.execute("select leasehold.ensure_partitions(1)")
        await connection.execute("reset leasehold.frozen_clock")
        await fill(connection, SMALL, 1, SMALL // 2)
        for script in (EVENTS, FLEET, HELD, TICKS, BOOKS):
            await connection.execute(script)
        small = await pages_of(database)
        await fill(connection, LARGE, SMALL + 1, LARGE // 2)
    large = await pages_of(database)
    grown = {
        name: (small[name], pages)
        for name, pages in large.items()
        if pages > 1.5 * small[name] + 400 and name[1] not in BOUNDED
    }
    assert grown == {}, "\n".join(map(str, grown.items()))
