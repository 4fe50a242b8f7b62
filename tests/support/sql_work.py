"""How much the server did for a call, counted by Postgres itself; no times, so it is the same on a busy machine."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec

from leasehold.database import Caller

COUNTERS = """
select c.relname::text as name, c.relkind::text as kind, pg_stat_get_xact_numscans(c.oid) as scans,
       pg_stat_get_xact_tuples_returned(c.oid) as returned, pg_stat_get_xact_tuples_fetched(c.oid) as fetched,
       pg_stat_get_xact_blocks_fetched(c.oid) as pages,
       pg_stat_get_xact_tuples_updated(c.oid) as updates, pg_stat_get_xact_tuples_hot_updated(c.oid) as hot_updates
  from pg_class c where c.relnamespace = 'leasehold'::regnamespace and c.relkind in ('r', 'i')
   and (pg_stat_get_xact_numscans(c.oid) > 0 or pg_stat_get_xact_blocks_fetched(c.oid) > 0)
"""
Counters = dict[str, tuple[str, int, int, int, int, int, int]]
UNUSED = ("", 0, 0, 0, 0, 0, 0)


class Work(msgspec.Struct):
    """Attributes:
    seq_scans: of the table jobs, from end to end.
    jobs_fetched: rows of jobs that index scans came to.
    entries: index entries read, of all indexes of jobs.
    pages: pages of all our tables and indexes, each time one was visited.
    indexes: how often each index of jobs was scanned.
    planning: pages that making plans may take: before Postgres 18 a function in SQL is planned at each call, and looks at
        every index of every partition.
    updates, hot_updates: of rows of jobs, and those of them that touched no index.
    """

    seq_scans: int = 0
    jobs_fetched: int = 0
    entries: int = 0
    pages: int = 0
    planning: int = 0
    updates: int = 0
    hot_updates: int = 0
    indexes: dict[str, int] = msgspec.field(default_factory=dict[str, int])


@asynccontextmanager
async def measured(connection: Caller) -> AsyncGenerator[Work]:
    """The work of what the block does on this connection, which must be in a transaction."""
    work = Work()
    before = await _read(connection)
    yield work
    after = await _read(connection)
    for name, (kind, *now) in after.items():
        scans, returned, fetched, pages, updates, hot_updates = (
            n - b for n, b in zip(now, before.get(name, UNUSED)[1:], strict=True)
        )
        work.pages += pages
        if name == "jobs":
            work.seq_scans += scans
            work.jobs_fetched += fetched
            work.updates += updates
            work.hot_updates += hot_updates
        elif kind == "i" and name.startswith("jobs_"):
            work.entries += returned
            if scans:
                work.indexes[name] = scans


async def _read(connection: Caller) -> Counters:
    rows = await connection.fetch(COUNTERS)
    return {row["name"]: tuple(row)[1:] for row in rows}


UNDISTURBED = """
do $$
declare
    each regclass;
begin
    for each in select c.oid from pg_class c where c.relnamespace = 'leasehold'::regnamespace and c.relkind = 'r' loop
        execute format('alter table %s set (autovacuum_enabled = off)', each);
    end loop;
end
$$;
"""
BELIEVED_EMPTY = """
analyze;
update pg_class set reltuples = 0, relpages = 1 where relnamespace = 'leasehold'::regnamespace and relkind = 'r'
"""


def statistics(*tables: str) -> dict[str, str]:
    """What Postgres may know of these tables when it makes a plan, each with the script that brings it there: nothing;
    the truth; and what the vacuum said when they were empty, with the values that were there before."""
    return {
        "never analyzed": "select",
        "analyzed": "".join(f"analyze leasehold.{table};" for table in tables),
        "vacuumed while empty": BELIEVED_EMPTY,
    }
