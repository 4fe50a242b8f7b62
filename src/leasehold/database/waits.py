"""Who keeps a session of Postgres waiting for a lock, and tasks that look for it while something goes on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import trio

from leasehold.database.connector import own_sessions
from leasehold.errors import LeaseholdError

if TYPE_CHECKING:
    from leasehold.database import Database, Row

# Who keeps the session $1 waiting, and who has waited for it for $2 seconds.
WAITS = r"""
with waits as (
    select b.pid, true as holds from unnest(pg_blocking_pids($1)) b(pid)
    union
    select l.pid, false from pg_locks l
     where not l.granted and l.pid <> $1 and l.waitstart < clock_timestamp() - make_interval(secs => $2)
       and $1 = any (pg_blocking_pids(l.pid))
), wanted as (
    select case when l.relation is not null then l.relation::regclass::text when l.locktype = 'transactionid' then 'a row'
                else l.locktype || ' lock' end as what
      from pg_locks l where l.pid = $1 and not l.granted limit 1
)
select w.holds, (select what from wanted) as what,
       case when w.pid = 0 then (
                select format('a prepared transaction (%s)', string_agg('ROLLBACK PREPARED ' || quote_literal(p.gid), ' or '))
                  from pg_prepared_xacts p where p.database = current_database())
            else concat_ws(', ', format('session %s (%s', w.pid, coalesce(nullif(a.application_name, ''), a.backend_type, '?')),
                           'user ' || a.usename, a.state,
                           format('in a transaction for %s s', round(extract(epoch from clock_timestamp() - a.xact_start))))
                 || coalesce(': ' || left(regexp_replace(nullif(a.query, ''), '\s+', ' ', 'g'), 80), '') || ')' end as who
  from waits w left join pg_stat_activity a on a.pid = w.pid order by w.pid
"""
LONGEST_WAIT = 7 * 86400.0  # seconds: `WAITS` then names nobody who waits


def describe_wait(rows: Sequence[Row]) -> str:
    """`leasehold.jobs, which session 7 (psql, …) has locked`, from what `WAITS` finds; empty if the session does not wait."""
    holders = [row["who"] for row in rows if row["holds"]]
    return f"{rows[0]['what'] or 'a lock'}, which {' and '.join(holders)} has locked" if holders else ""


async def report_wait(database: Database, say: Callable[[str], None], patience: float) -> None:
    """Say once what a statement of this process waits for, looking again and again until one does.

    The first look comes after `patience` seconds, each later one after twice as long: it takes a new connection, which a command
    that goes on for hours should not open every few seconds. It finds nothing through a pooler, which gives sessions other numbers.
    """
    while True:
        await trio.sleep(patience)
        patience *= 2
        sessions = own_sessions()
        with suppress(LeaseholdError):
            async with database.reserve("waits") as connection:
                for each in sessions:
                    if wait := describe_wait(await connection.fetch(WAITS, each, LONGEST_WAIT)):
                        say(f"still waiting for {wait}")
                        return


@asynccontextmanager
async def lookouts() -> AsyncGenerator[trio.Nursery]:
    """A nursery for tasks that look on while the block lasts. What the block raises comes out as it is, in no group."""
    raised: BaseException | None = None
    try:
        async with trio.open_nursery() as nursery:
            try:
                yield nursery
            except BaseException as error:
                raised = error
                raise
            nursery.cancel_scope.cancel()
    except BaseExceptionGroup:
        if raised is None:
            raise
    if raised is not None:
        raise raised
