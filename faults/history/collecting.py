"""Reading the notes of the triggers, and what is left in the tables, as records."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, LiteralString, cast

import msgspec
import psycopg

from faults.history.history import process_of
from faults.history.records import Change, Edge, Effect, End, Entry, Forgotten, Left, Limit, Pause, Tick, Worker

WATCH = Path(__file__).with_name("watch.sql")
BATCH = 5000
COMMITTED: LiteralString = (
    "extract(epoch from coalesce(case when current_setting('track_commit_timestamp')::boolean"
    " then pg_xact_commit_timestamp(xid::text::xid) end, at))::float8"
)
CHANGES: LiteralString = f"""
select n, xid::text::bigint, extract(epoch from at)::float8, {COMMITTED}, by, job, old_state, state, old_attempt, attempt,
       old_owner::text, owner::text, extract(epoch from old_lease)::float8, extract(epoch from lease)::float8,
       extract(epoch from claimed_at)::float8, kind, queue, key,
       key_group, chain, extract(epoch from run_at)::float8, max_attempts, spared, crashes, tag, unique_key, schedule, tick
  from watch.changes order by n
"""
ENDS: LiteralString = f"""
select n, xid::text::bigint, extract(epoch from at)::float8, {COMMITTED}, by, job, state, attempt, owner::text, kind, queue, chain,
       next, error, said_attempt, said_owner from watch.ends order by n
"""
NOTES: LiteralString = f"""
select n, xid::text::bigint, extract(epoch from at)::float8, {COMMITTED}, by, what, doc::text from watch.notes order by n
"""
LEFT: LiteralString = """
select id, state, extract(epoch from run_at)::float8, kind, queue, key from leasehold.jobs order by id
"""


def install_watch(dsn: str) -> None:
    """Note everything in this database from now on."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(cast("LiteralString", WATCH.read_text()))


def collect(dsn: str) -> Generator[Entry]:
    """Everything that was noted, and the jobs that are left; in one snapshot, and in memory only a few thousand at a time."""
    with psycopg.connect(dsn) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute("set timezone = 'UTC'")
        for row in _rows(connection, CHANGES):
            yield Change(*row)
        for row in _rows(connection, ENDS):
            yield End(*row)
        for row in _rows(connection, NOTES):
            yield note(*row)
        for row in _rows(connection, LEFT):
            yield Left(*row)


def _rows(connection: psycopg.Connection, query: LiteralString) -> Iterable[tuple[Any, ...]]:
    with connection.cursor(name="history") as cursor:
        cursor.itersize = BATCH
        cursor.execute(query)
        yield from cursor


def note(n: int, xid: int, at: float, committed: float, by: str, what: str, text: str) -> Entry:
    """The record of one row of `watch.notes`."""
    doc = msgspec.json.decode(text)
    if what == "worker":
        return Worker(doc["incarnation"], doc["worker_id"], process_of(by), at)
    if what == "limit":
        return Limit(n, committed, doc["queue"], doc["key_group"], doc["max_running"], doc["rate"], doc["burst"])
    return NOTES_BY_NAME[what](n, xid, committed, doc)


def _edge(n: int, xid: int, committed: float, doc: dict[str, Any]) -> Edge:
    closed, any_end = doc["closed_at"] is not None, bool(doc["until_ended"])
    return Edge(n, xid, committed, doc["job_id"], doc["slot"], doc["chain_id"], any_end, closed, doc["end_state"])


def _tick(n: int, xid: int, committed: float, doc: dict[str, Any]) -> Tick:
    ids = tuple(doc["job_ids"] or ())
    tick_at, fired_at = _seconds(doc["tick_at"]), _seconds(doc["fired_at"])
    return Tick(
        n,
        xid,
        committed,
        doc["schedule"],
        doc["origin"],
        tick_at,
        fired_at,
        doc["outcome"],
        ids,
        doc["every"],
        doc["missed"],
    )


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


NOTES_BY_NAME: dict[str, Callable[[int, int, float, dict[str, Any]], Entry]] = {
    "forgotten": lambda n, xid, committed, doc: Forgotten(n, xid, committed, doc["job"], doc["state"]),
    "edge": _edge,
    "effect": lambda n, xid, committed, doc: Effect(n, xid, committed, doc["job_id"], doc["attempt"]),
    "tick": _tick,
    "pause": lambda n, xid, committed, doc: Pause(n, xid, committed, doc["queue"], doc["paused"]),
}
