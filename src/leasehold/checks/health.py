"""The health of Postgres: what it promises to the disk, what vacuum can do, how much room is left, what it has lost."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leasehold.checks.verdicts import Check, advise, ok, problem
from leasehold.observability.wording import show_span

if TYPE_CHECKING:
    from leasehold.database import Caller

LONGEST_NAPTIME = 10
PINNED_SECONDS, HARMFUL_SECONDS, MARKED_SECONDS = 300.0, 5.0, 1.0
LOCKED_SECONDS = 5.0
MOST_DEAD = 50_000
VACUUMED_SECONDS = 120
LEAST_FREE_SHARE = 0.05
LEAST_FREE_BYTES = 1 << 30
SHOWN_QUERY = 80

DURABILITY = """
select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit') order by name
"""
# Who may not see other sessions sees a standby without its state.
STANDBYS = """
select current_setting('synchronous_standby_names') as names,
       (select count(*) from pg_stat_activity where wait_event = 'SyncRep') as waiting
 where current_setting('synchronous_standby_names') <> ''
   and not exists (select from pg_stat_replication where coalesce(sync_state, 'sync') in ('sync', 'quorum'))
"""
AUTOVACUUM = """
select current_setting('autovacuum')::boolean as is_on,
       extract(epoch from current_setting('autovacuum_naptime')::interval)::int as naptime,
       array(select distinct c.relname::text from pg_class c cross join unnest(c.reloptions) as o(option)
              where c.relnamespace = to_regnamespace('leasehold')
                and o.option ~* '^autovacuum_enabled=(off|false|no|0)$') as without
"""
# Sessions of this database, and what is kept for others: each with the oldest transaction whose rows it may still see.
PINS = """
select 'session' as kind,
       format('session %s (%s, role %s, %s)', a.pid, coalesce(nullif(a.application_name, ''), 'no application name'),
              a.usename, a.state) as name,
       extract(epoch from clock_timestamp() - a.xact_start)::float8 as seconds,
       greatest(age(a.backend_xmin), age(a.backend_xid)) as transactions, a.query as query, a.pid::text as id
  from pg_stat_activity a
 where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'
   and a.xact_start is not null and (a.backend_xmin is not null or a.backend_xid is not null)
union all
select 'prepared', format('prepared transaction %L (role %s)', gid, owner),
       extract(epoch from clock_timestamp() - prepared)::float8,
       age(transaction), null, quote_literal(gid)
  from pg_prepared_xacts where database = current_database()
union all
select 'slot', format('replication slot %s (%s)', slot_name, case when active then 'active' else 'inactive' end), null,
       age(xmin), null, slot_name::text
  from pg_replication_slots where xmin is not null
union all
select 'standby', format('standby %s', coalesce(nullif(application_name, ''), pid::text)), null, age(backend_xmin), null, pid::text
  from pg_stat_replication where backend_xmin is not null
 order by transactions desc, seconds desc
"""
# Who holds tables and sequences of ours in one of these modes, the oldest first, and how many sessions wait for it.
HOLDERS = """
select case when l.pid is null then 'prepared transaction ' || quote_literal(p.gid)
            else format('session %s (%s, role %s, %s)', l.pid, coalesce(nullif(a.application_name, ''), 'no application name'),
                        a.usename, a.state) end || format(' holds %s locked', l.relation::regclass) as holder,
       case when l.pid is null then 'ROLLBACK PREPARED ' || quote_literal(p.gid)
            else format('select pg_terminate_backend(%s)', l.pid) end as cure,
       extract(epoch from clock_timestamp() - coalesce(a.xact_start, p.prepared))::float8 as seconds,
       (select count(distinct w.pid) from pg_locks w
         where not w.granted and coalesce(l.pid, 0) = any (pg_blocking_pids(w.pid))) as waiting
  from pg_locks l
  join pg_class c on c.oid = l.relation and c.relkind in ('r', 'p', 'S') and c.relnamespace = to_regnamespace('leasehold')
  left join pg_stat_activity a on a.pid = l.pid
  left join pg_locks x on l.pid is null and x.pid is null and x.locktype = 'transactionid'
                      and x.virtualtransaction = l.virtualtransaction
  left join pg_prepared_xacts p on p.transaction = x.transactionid
 where l.granted and l.locktype = 'relation' and l.mode = any ($1) and l.pid is distinct from pg_backend_pid()
   and l.database = (select d.oid from pg_database d where d.datname = current_database())
 order by coalesce(a.xact_start, p.prepared)
"""
READERS_WAIT = ["AccessExclusiveLock"]
WRITERS_WAIT = [*READERS_WAIT, "ExclusiveLock", "ShareRowExclusiveLock", "ShareLock"]
MAY_SEE_OTHERS = "select pg_has_role(current_user, 'pg_read_all_stats', 'usage') as may_see"
CURES = {
    "session": "select pg_terminate_backend({id}); and set idle_in_transaction_session_timeout for its role",
    "prepared": "ROLLBACK PREPARED {id}, or COMMIT PREPARED {id} if that was decided",
    "slot": "select pg_drop_replication_slot('{id}'), if nobody needs it any more",
    "standby": "end the long query there, or turn hot_standby_feedback off",
}
DEAD = """
select relname::text as name, n_dead_tup as dead, n_live_tup as live,
       extract(epoch from clock_timestamp() - greatest(last_autovacuum, last_vacuum))::float8 as vacuumed_ago
  from pg_stat_user_tables t
 where schemaname = 'leasehold' and n_dead_tup > $1 and n_dead_tup > 2 * n_live_tup
   and not coalesce(greatest(last_autovacuum, last_vacuum) > clock_timestamp() - make_interval(secs => $2), false)
   and not exists (select from pg_stat_progress_vacuum v where v.relid = t.relid)
 order by n_dead_tup desc
"""
DEAD_JOBS = """
select coalesce(sum(n_dead_tup) filter (where relname = 'jobs'), 0)::bigint as dead,
       coalesce(sum(n_live_tup) filter (where relname = 'lane_marks'), 0)::bigint as marks
  from pg_stat_user_tables where schemaname = 'leasehold' and relname in ('jobs', 'lane_marks')
"""

RECENT_SECONDS = 86_400.0
MOST_NAMED = 10

EPOCHS = """
select e.*, extract(epoch from leasehold.clock() - e.began_at)::float8 as seconds from leasehold.list_epochs(20) e
"""
CAUSES = {
    "timeline": "a standby was promoted, or the database recovered to an earlier point",
    "server": "the data is on another server",
    "database": "a dump was restored",
    "rewound": "the database stands before a place that a worker had seen",
}


async def check_durability(database: Caller) -> Check:
    """What was acknowledged survives a crash."""
    found = {row["name"]: row["setting"] for row in await database.fetch(DURABILITY)}
    lossy = [name for name in ("fsync", "full_page_writes") if found[name] == "off"]
    if lossy:
        detail = f"{' and '.join(lossy)} off: a crash of the machine may destroy the database"
        return problem("durability", detail, f"set {' and '.join(f'{name} = on' for name in lossy)}")
    if found["synchronous_commit"] == "off":
        detail = "synchronous_commit = off: jobs that were acknowledged last may be lost in a crash"
        return problem("durability", detail, "set synchronous_commit = on for our role and for those who enqueue")
    if lost := await database.fetch(STANDBYS):
        detail = f"every commit waits for a synchronous standby ({lost[0]['names']}), and none is connected"
        detail += f"; sessions that wait: {lost[0]['waiting']}"
        advice = "bring the standby back, or: alter system set synchronous_standby_names = ''; select pg_reload_conf()"
        return problem("durability", detail, advice)
    return ok("durability", f"commits reach the disk (synchronous_commit = {found['synchronous_commit']})")


async def check_autovacuum(database: Caller) -> Check:
    """Autovacuum looks often enough for a table that changes as fast as `jobs`."""
    [row] = await database.fetch(AUTOVACUUM)
    if not row["is_on"]:
        return problem("autovacuum", "is off: the table of jobs only ever grows", "set autovacuum = on")
    if row["without"]:
        tables = ", ".join(sorted(row["without"]))
        advice = "alter table leasehold.… reset (autovacuum_enabled)"
        return problem("autovacuum", f"is off for {tables}, which only ever grow", advice)
    seconds = int(row["naptime"])
    if seconds <= LONGEST_NAPTIME:
        return ok("autovacuum", f"looks every {seconds} s")
    advice = f"for thousands of jobs a second set autovacuum_naptime = {LONGEST_NAPTIME}s or less"
    return advise("autovacuum", f"looks every {seconds} s", advice)


async def check_locks(database: Caller, longest: float = LOCKED_SECONDS) -> Check:
    """Nobody keeps writers waiting: an `alter table`, an `alter sequence` or a `create index` in a transaction left open.

    Args:
        longest: seconds that a transaction may hold such a lock. Without the right to see when it began it counts as longer.
    """
    held = await database.fetch(HOLDERS, WRITERS_WAIT)
    old = [each for each in held if each["seconds"] is None or each["seconds"] > longest]
    if not old:
        return ok("locks", f"nobody has kept writers waiting for {show_span(longest)}")
    worst, *others = old
    since = "" if worst["seconds"] is None else f", in a transaction since {show_span(worst['seconds'])}"
    detail = f"{worst['holder']}{since}; sessions that wait: {worst['waiting']}"
    if others:
        detail += f"; and {len(others)} more locks"
    return problem("locks", detail, worst["cure"])


async def check_horizon(database: Caller, longest: float | None = None) -> Check:
    """No old transaction keeps vacuum from removing dead rows; if one does, it is named.

    A transaction is old after five minutes. Where there are many dead rows of jobs already, it is old after five seconds, and
    after one where claims have begun to pass over them.
    """
    [right] = await database.fetch(MAY_SEE_OTHERS)
    if not right["may_see"]:
        advice = "grant pg_read_all_stats (or pg_monitor) to this role to see who keeps vacuum from its work"
        return advise("horizon", "this role does not see other sessions", advice)
    if longest is None:
        [found] = await database.fetch(DEAD_JOBS)
        longest = longest_pin(found["dead"], found["marks"])
    return judge_pins(await database.fetch(PINS), longest)


def longest_pin(dead: int, marks: int) -> float:
    """How many seconds a transaction may be open, with so many dead rows of jobs, and marks at which claims begin."""
    return MARKED_SECONDS if marks > 0 else HARMFUL_SECONDS if dead > MOST_DEAD else PINNED_SECONDS


def judge_pins(pins: Sequence[Any], longest: float) -> Check:
    """The oldest pin in full, and how many others there are. Slots and standbys, which tell no time, count at once."""
    old = [pin for pin in pins if pin["seconds"] is None or pin["seconds"] > longest]
    if not old:
        return ok("horizon", f"no transaction is older than {show_span(longest)}")
    worst, *others = old
    detail = f"vacuum removes nothing younger than {worst['name']}"
    if worst["seconds"] is not None:
        detail += f", in a transaction since {show_span(worst['seconds'])}"
    detail += f", {worst['transactions']} transactions back"
    if worst["query"]:
        query = " ".join(worst["query"].split())
        detail += f", last query: {query[:SHOWN_QUERY]}{'…' if len(query) > SHOWN_QUERY else ''}"
    if others:
        detail += f"; and {len(others)} more"
    return problem("horizon", detail, CURES[worst["kind"]].format(id=worst["id"]))


async def check_bloat(database: Caller, most: int = MOST_DEAD) -> Check:
    """Dead rows do not outnumber the living where vacuum has not just looked; what it cannot remove, the horizon tells."""
    rows = await database.fetch(DEAD, most, VACUUMED_SECONDS)
    if not rows:
        return ok("bloat", "few dead rows")
    when = [
        f"{row['dead']} dead rows and {row['live']} live ones in {row['name']}, "
        + ("never vacuumed" if row["vacuumed_ago"] is None else f"vacuumed {show_span(row['vacuumed_ago'])} ago")
        for row in rows
    ]
    advice = f"cure what `horizon` and `autovacuum` say, then: vacuum leasehold.{rows[0]['name']}"
    return problem("bloat", "; ".join(when), advice)


def check_disk(folder: Path, least_share: float = LEAST_FREE_SHARE, least_bytes: float = LEAST_FREE_BYTES) -> Check:
    """Embedded Postgres has room for its data in `folder`."""
    usage = shutil.disk_usage(folder)
    detail = f"{usage.free / (1 << 30):.1f} GiB of {usage.total / (1 << 30):.1f} GiB free for {folder}"
    if usage.free < max(least_share * usage.total, least_bytes):
        return problem("disk", detail, "make room before Postgres stops: on a full disk it takes no more jobs")
    return ok("disk", detail)


async def check_epochs(database: Caller) -> Check:
    """No failover and no restore of the last day has lost anything that is known of."""
    return judge_epochs(await database.fetch(EPOCHS))


def judge_epochs(epochs: Sequence[Any]) -> Check:
    """The worst of the last day. Jobs that a worker held and nobody knows are a problem; all else may have been lost unseen."""
    recent = [each for each in epochs if each["cause"] != "first" and each["seconds"] < RECENT_SECONDS]
    if not recent:
        return ok("epochs", "no failover and no restore within a day")
    worst = max(recent, key=lambda each: each["lost_jobs"])
    detail = f"{show_span(worst['seconds'])} ago {CAUSES[worst['cause']]}{_timelines(worst)}"
    if worst["lost_jobs"]:
        named = ", ".join(map(str, worst["lost_job_ids"][:MOST_NAMED]))
        more = ", …" if worst["lost_jobs"] > MOST_NAMED else ""
        detail += f"; workers held {worst['lost_jobs']} jobs that it does not know: {named}{more}{_range(worst)}"
        return problem("epochs", detail, "enqueue them again from their source; see docs/failover.md")
    detail += "; no worker missed a job, but what was acknowledged last may be lost"
    return advise("epochs", detail, "compare what was enqueued last with its source; see docs/failover.md")


def _timelines(epoch: Any) -> str:
    if epoch["cause"] != "timeline" or epoch["former_timeline"] is None:
        return ""
    return f" (timeline {epoch['former_timeline']}, now {epoch['timeline']})"


def _range(epoch: Any) -> str:
    """The ids that were given out and lost, as far as anybody knows."""
    first, last = epoch["ids_after"], epoch["last_lost_id"]
    return f"; ids from {first + 1} to {last} at the least were lost" if first is not None and last > first else ""
