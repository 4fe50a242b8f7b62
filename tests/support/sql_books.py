"""Jobs at chosen times, and the books that are kept of them."""

from __future__ import annotations

from leasehold.database import Caller, ReservedConnection, Row
from tests.support.sql_waits import freeze

FINISH = """
insert into leasehold.finished_jobs (id, created_at, run_at, claimed_at, started_at, finished_at, priority,
       attempt, spared_attempts, max_attempts, state, kind, queue, args)
select nextval('leasehold.jobs_id_seq'), t.ready_at, t.ready_at, t.started_at, t.started_at, t.ended_at,
       0, 1, 0, 1, $4, 'k', $3, '{}'
  from (select e.at as ended_at, e.at - make_interval(secs => $6) as started_at, e.at - make_interval(secs => $5 + $6) as ready_at
          from (select $1::text::timestamptz as at) e) t
 cross join generate_series(1, $2::int)
"""


async def finish(
    caller: Caller,
    at: str,
    count: int = 1,
    *,
    queue: str = "q",
    state: str = "completed",
    wait: float = 0.0,
    run: float = 1.0,
) -> None:
    """So many jobs that finished then, after they had waited and run so many seconds."""
    await caller.fetch(FINISH, at, count, queue, state, wait, run)


async def close(connection: ReservedConnection, at: str) -> object:
    """Close the minutes that are over at that time."""
    await freeze(connection, at)
    return await connection.call_value("close_minutes", timeout=None)


async def books(caller: Caller, *columns: str) -> list[tuple[object, ...]]:
    """These columns of the rollups, behind minute and queue, oldest first."""
    names = ", ".join(columns)
    rows = await caller.fetch(
        f"select to_char(starts_at at time zone 'utc', 'HH24:MI'), queue, {names} from leasehold.rollups order by starts_at, queue"
    )
    return [tuple(row) for row in rows]


async def totals(caller: Caller, queue: str = "q") -> Row:
    """The totals of a queue."""
    (row,) = [row for row in await caller.call("get_totals") if row["queue"] == queue]
    return row


async def call_everything_big(connection: ReservedConnection) -> None:
    """From now on this session takes every table for a big one."""
    await connection.execute("set leasehold.small_table = '-1'")
