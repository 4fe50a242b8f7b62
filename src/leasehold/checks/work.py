"""The work itself: settings that fight each other, overdue jobs, claims, workers, kinds, and upkeep.

Overlooked are jobs that nothing stands in the way of and nobody takes. Schedulers and reapers leave no rows of their own, but
their sessions have names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from leasehold.checks.verdicts import Check, advise, ok, problem, skipped
from leasehold.database.calls import decoded
from leasehold.database.connector import Pooler
from leasehold.errors import DatabaseUnavailable, LockTimeout
from leasehold.observability.wording import show_instant, show_span
from leasehold.records.queues import KindConflict, KindRecord

if TYPE_CHECKING:
    from leasehold.database import Database
    from leasehold.settings import Settings

SHORT_LEASE = 5.0
SLOW_POLL = 10.0
MOST_NAMED = 3

# What `leasehold audit` finds, as much of it as indexes tell.
OVERDUE = """
select (select count(*) from leasehold.jobs where state = 'scheduled' and run_at < now() - interval '1 minute')
     + (select count(*) from leasehold.jobs
         where state in ('claimed', 'running') and lease_expires_at < now() - interval '1 minute')
     + (select count(*) from leasehold.jobs where deadline < now() - interval '1 minute') as jobs
"""
UNCLAIMED = "select * from leasehold.list_unclaimed_kinds($1) where waits_for > 60"
MOST_COUNTED = 1000
WORKERS = """
select w.worker_id, w.host, w.state, w.active_jobs, w.silent_for, w.outdated, w.backoff,
       v.listening or v.heartbeat_seconds is null or (select f.deaf = 0 from leasehold.measure_fleet() f) as hears
  from leasehold.all_workers w join leasehold.workers v using (incarnation)
 where w.stopped_at is null and w.silent_for < 86400
 order by w.worker_id, w.started_at
"""
# As list_workers is planned, which works out every column of each worker.
STEERED = "set local jit = off; set local enable_seqscan = off; set local enable_bitmapscan = off"
IS_WAITED_FOR = "select exists (select from leasehold.jobs where state = 'pending') as is_waited_for"

SLOW_MILLISECONDS = 50.0
PATIENCE_SECONDS = 5.0

# A job that has waited for long, first of its kind, of which nothing has finished lately, where a worker has a free slot.
# A lane may be long: the head of each class of its jobs (see the index jobs_pending) is read, and no more. To explain a job is
# dear: only lanes that a free worker serves are looked into, the best head first, for that is the one with nothing before it.
OVERLOOKED = """
with free as materialized (
    select distinct w.queues, w.kinds from leasehold.workers w cross join (select leasehold.clock() as now) t
     where w.state = 'ready' and w.backoff is null and (w.idle or w.active_jobs < w.slots) and leasehold.is_alive(w, t.now)
), moving as materialized (
    select r.queue, r.kind from leasehold.measure_rates() r where exists (select from free)
), lanes as materialized (
    select k.queue, k.kind, k.oldest_run_at from leasehold.list_ready_kinds() k
     where k.oldest_run_at < leasehold.clock() - make_interval(secs => $1)
       and not exists (select from moving m where m.queue = k.queue and m.kind = k.kind)
       and exists (select from free f
                    where (f.queues = '{}' or k.queue = any (f.queues)) and (f.kinds = '{}' or k.kind = any (f.kinds)))
     order by k.oldest_run_at limit 20
), heads as materialized (
    select l.queue, l.kind, l.oldest_run_at, j.*
      from lanes l
     cross join lateral (
           select h.* from generate_series(0, 3) as class
            cross join lateral (
                  select p.id, p.priority, coalesce(p.pending_at, p.run_at) as since from leasehold.jobs p
                   where p.state = 'pending' and p.queue = l.queue and p.kind = l.kind
                     and leasehold.lane_class(p.crashes, p.key_group) = class
                   order by p.priority desc, coalesce(p.pending_at, p.run_at), p.id limit 1) h
            order by h.priority desc, h.since, h.id limit 1) j
     order by j.priority desc, j.since, j.id
)
select h.queue, h.kind, h.id, e.reason, e.explanation, extract(epoch from leasehold.clock() - h.oldest_run_at)::float8 as waits_for
  from heads h
 cross join lateral leasehold.explain_job(h.id) e
 where e.reason in ('idle_worker', 'locked')
 limit 1
"""

CURES = {
    "53100": "make room on the disk of Postgres",
    "53200": "raise max_locks_per_transaction, which says how much room there is for locks, and restart Postgres",
    "53300": "raise max_connections, or put a pooler in front",
}
"""What to do where Postgres has run out of something, by SQLSTATE."""

# A process names its sessions `leasehold ACTOR+ACTOR PID PURPOSE`.
CONNECTED = """
select count(distinct split_part(application_name, ' ', 3)) filter (where 'scheduler' = any (names)) as schedulers,
       count(distinct split_part(application_name, ' ', 3)) filter (where 'reaper' = any (names)) as reapers,
       exists (select from leasehold.jobs j where j.state = 'scheduled')
           or exists (select from leasehold.schedules s where s.next_run_at is not null) as is_anything_scheduled
  from (select a.application_name, string_to_array(split_part(a.application_name, ' ', 2), '+') as names
          from pg_stat_activity a where a.datname = current_database() and a.application_name like 'leasehold %') s
"""


def check_settings(settings: Settings, given: int) -> Check:
    """No setting defeats another."""
    detail = f"{given} given, the rest are defaults"
    for trouble, advice in _contradictions(settings):
        return advise("settings", f"{detail}; {trouble}", advice)
    return ok("settings", detail)


def _contradictions(settings: Settings) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if not settings.notify and settings.poll_seconds > SLOW_POLL:
        trouble = f"notify is off and poll_seconds = {settings.poll_seconds:g}, so a new job may wait that long"
        found.append((trouble, "lower LEASEHOLD_POLL_SECONDS, or set LEASEHOLD_NOTIFY=on"))
    if settings.lease_seconds < SHORT_LEASE:
        trouble = (
            f"lease_seconds = {settings.lease_seconds:g} is short: a slow network or a pause of Postgres costs jobs"
        )
        found.append((trouble, "raise LEASEHOLD_LEASE_SECONDS"))
    return found


async def check_jobs(database: Database) -> Check:
    """Nothing is overdue for long."""
    [row] = await database.fetch(OVERDUE)
    stuck = await database.call("list_stuck_leases")
    return judge_jobs(row["jobs"], await database.fetch(UNCLAIMED, MOST_COUNTED), stuck)


def judge_jobs(overdue: int, unclaimed: Sequence[Any], stuck: Sequence[Any] = ()) -> Check:
    """All that can be said of them: paused work is meant to wait, and no finding. `stuck` are jobs that no reaper can take back,
    with the sessions that keep it from them."""
    unserved = [each for each in unclaimed if each["reason"] == "unserved"]
    found = [each["explanation"] for each in stuck[:MOST_NAMED]]
    by_hand = "by hand: select pg_terminate_backend(pid)"
    advice = [f"a reaper ends such a session after LEASEHOLD_SESSION_GRACE_SECONDS; {by_hand}"] if stuck else []
    if overdue > len(stuck):
        found.append(f"{overdue - len(stuck)} overdue, and no worker or reaper sees to it")
        advice.append("look at `leasehold audit`")
    if unserved:
        found.append(f"nobody serves {_name_kinds(unserved)}")
        advice.append("start a worker that has both the queue and the kind; see `leasehold workers list`")
    is_wrong = bool(found)
    if paused := [each for each in unclaimed if each["reason"] != "unserved"]:
        found.append(f"paused, and jobs wait: {_name_kinds(paused)}")
        advice.append("leasehold queues resume QUEUE, or leasehold workers resume WORKER, when they may run")
    if found:
        return (problem if is_wrong else advise)("jobs", "; ".join(found), ". ".join(advice))
    return ok("jobs", "none is overdue")


def _name_kinds(kinds: Sequence[Any]) -> str:
    named = [
        f"kind {each['kind']} in queue {each['queue']} ({_count(each['jobs'])} ready, the first for "
        f"{show_span(each['waits_for'])}, since {show_instant(each['oldest_run_at'])})"
        for each in kinds[:MOST_NAMED]
    ]
    return "; ".join(named + ([f"and {len(kinds) - MOST_NAMED} more"] if len(kinds) > MOST_NAMED else []))


def _count(jobs: int) -> str:
    return f"{jobs:,} or more" if jobs >= MOST_COUNTED else str(jobs)


async def check_workers(database: Database, settings: Settings) -> Check:
    """Registered workers are alive and hear notifications, and there is a worker when jobs wait."""
    [row] = await database.fetch(IS_WAITED_FOR)
    async with database.transaction() as session:
        await session.execute(STEERED)
        workers = await session.fetch(WORKERS)
    is_stuck = any(map(_died_with_jobs, workers)) and bool(await database.call("list_stuck_leases"))
    return judge_workers(workers, row["is_waited_for"], settings.notify, is_stuck)


def _died_with_jobs(worker: Any) -> bool:
    return worker["state"] == "stale" and worker["active_jobs"] > 0


def judge_workers(workers: Sequence[Any], is_waited_for: bool, notify: bool, is_stuck: bool = False) -> Check:
    """All that can be said of them: a worker that died yesterday must not hide that those of today claim nothing."""
    alive = [each for each in workers if each["state"] != "stale"]
    with_jobs = [each for each in workers if _died_with_jobs(each)]
    quietly = [each for each in workers if each["state"] == "stale" and not _died_with_jobs(each)]
    is_missing = is_waited_for and not alive
    found, advice = ["none alive, and jobs are pending" if is_missing else f"{len(alive)} alive"], list[str]()
    if with_jobs:
        jobs = sum(each["active_jobs"] for each in with_jobs)
        found.append(f"died with {jobs} jobs in hand: {_name(with_jobs)}")
        by_hand = "is a reaper running? By hand: leasehold reap"
        advice.append("sessions hold their jobs, see `jobs` here" if is_stuck else by_hand)
    if is_missing:
        advice.append("start one: leasehold run worker")
    for trouble, what in _troubles_of(alive, notify):
        found.append(trouble)
        advice.append(what)
    if quietly:
        found.append(f"died without a word: {_name(quietly)}")
        advice.append("look into its log: out of memory, kill -9?")
    if not advice:
        return ok("workers", found[0])
    return (problem if with_jobs or is_missing else advise)("workers", "; ".join(found), ". ".join(advice))


def _troubles_of(alive: Sequence[Any], notify: bool) -> Iterator[tuple[str, str]]:
    """What keeps the living from working well, each with what to do."""
    if held_back := [each for each in alive if each["state"] == "ready" and each["backoff"] is not None]:
        yield f"backing off: {_name_held_back(held_back)}", _relieve(held_back)
    if deaf := [each for each in alive if notify and not each["hears"]]:
        advice = "see `notify` and `pooler` here, and the log of that worker"
        yield f"deaf to notifications, so polling: {_name(deaf)}", advice
    if outdated := [each for each in alive if each["outdated"]]:
        trouble = f"of another version than the worker that started last: {_name(outdated)}"
        yield trouble, "fine during a rolling upgrade; else restart it"


def _name(workers: Sequence[Any]) -> str:
    first = workers[0]
    name = f"{first['worker_id']} on {first['host']} (silent for {show_span(first['silent_for'])})"
    return name if len(workers) == 1 else f"{name} and {len(workers) - 1} more"


def _name_held_back(workers: Sequence[Any]) -> str:
    named = [f"{each['worker_id']} on {each['host']}: {each['backoff']}" for each in workers[:MOST_NAMED]]
    return "; ".join(named + ([f"and {len(workers) - MOST_NAMED} more"] if len(workers) > MOST_NAMED else []))


def _relieve(workers: Sequence[Any]) -> str:
    reasons = " ".join(each["backoff"].lower() for each in workers)
    found: list[str] = []
    if "memory" in reasons:
        found.append("memory: fewer slots, or more of it")
    if "cpu" in reasons:
        found.append("CPU: see what else runs there; a worker meant to use the whole machine takes --cpu-backoff 1")
    return ". ".join(found) or "see the log of that worker"


async def check_claims(database: Database, overlooked_after: float = 60.0) -> Check:
    """Free workers take what they may take, and a claim is quick. The claim that is timed is undone."""
    try:
        overlooked = await database.fetch(OVERLOOKED, overlooked_after)
        took = await _time_a_claim(database)
        if took > SLOW_MILLISECONDS:  # the first one in a session reads the functions, too
            took = min(took, await _time_a_claim(database))
        return judge_claims(overlooked[0] if overlooked else None, took)
    except LockTimeout:
        raise
    except DatabaseUnavailable as error:
        return judge_failure(str(error))


async def _time_a_claim(database: Database) -> float:
    """Milliseconds of a claim of one job of any kind and queue."""
    transaction = await database.begin()
    try:
        begun = perf_counter()
        await transaction.call("claim_jobs", uuid4(), "doctor", timeout=PATIENCE_SECONDS)
        return (perf_counter() - begun) * 1000
    finally:
        await transaction.roll_back()


def judge_claims(overlooked: Any, milliseconds: float) -> Check:
    """The worse of both."""
    if overlooked:
        detail = f"job {overlooked['id']} of kind {overlooked['kind']} in queue {overlooked['queue']} waits for "
        detail += f"{show_span(overlooked['waits_for'])} and {overlooked['explanation']}"
        advice = "look into the logs of these workers: do they reach the database?"
        if overlooked["reason"] == "locked":
            advice = "end that transaction; by hand: select pg_terminate_backend(pid)"
        return problem("claims", detail, advice)
    if milliseconds > SLOW_MILLISECONDS:
        advice = "cure what `horizon`, `bloat` and `autovacuum` say; then reindex table concurrently leasehold.jobs"
        return problem("claims", f"a claim of one job takes {milliseconds:.0f} ms", advice)
    return ok("claims", f"a claim of one job takes {milliseconds:.1f} ms")


def judge_failure(error: str) -> Check:
    """A claim that failed, or did not end."""
    advice = next((cure for state, cure in CURES.items() if state in error), "look into the log of Postgres")
    return problem("claims", f"a claim of one job failed: {error}", advice)


async def check_kinds(database: Database) -> Check:
    """No live worker runs a version that says otherwise of a kind than the one that wins."""
    kinds = [msgspec.convert(decoded(row), KindRecord) for row in await database.call("list_kinds")]
    torn = [_disagreement(kind, other) for kind in kinds for other in kind.conflicts if other.workers]
    if not torn:
        return ok("kinds", f"{len(kinds)} declared, and the live workers agree")
    named = ", ".join(torn[:MOST_NAMED]) + (f" and {len(torn) - MOST_NAMED} more" if len(torn) > MOST_NAMED else "")
    return advise(
        "kinds",
        f"versions disagree: {named}",
        "that is so during a deploy; else end the workers of the other version, or choose one: leasehold kinds sync --app …; "
        "where two apps share a database, no kind of one may have the name of another's",
    )


def _disagreement(kind: KindRecord, other: KindConflict) -> str:
    """`charge (queue: version 1 runs, 2 wins)`, with the apps where they are two."""
    versions = [(other.app_version or "-", other.app), (kind.app_version or "-", kind.app)]
    runs, wins = (f"{version} of {app}" if other.app != kind.app else version for version, app in versions)
    return f"{kind.kind} ({', '.join(other.fields)}: version {runs} runs, {wins} wins)"


async def check_upkeep(database: Database) -> Check:
    """Somebody makes due what is scheduled, takes back what nobody renews, and makes partitions."""
    [row] = await database.fetch(CONNECTED)
    if database.pooler not in (None, Pooler.NONE):
        return skipped("upkeep", "a pooler is in front, so sessions do not tell whose they are")
    return judge_upkeep(row["schedulers"], row["reapers"], row["is_anything_scheduled"])


def judge_upkeep(schedulers: int, reapers: int, is_anything_scheduled: bool) -> Check:
    """A missing scheduler stops what is scheduled; a missing reaper is felt after days."""
    detail = f"connected: {schedulers} schedulers, {reapers} reapers"
    if not schedulers and is_anything_scheduled:
        advice = "start one: leasehold run scheduler"
        return problem("upkeep", f"{detail}; delayed jobs wait for a poll and no schedule fires", advice)
    if not reapers:
        advice = "start one: leasehold run reaper"
        return advise("upkeep", f"{detail}; nobody makes partitions, drops old ones or enforces deadlines", advice)
    if not schedulers:
        return advise("upkeep", f"{detail}; nothing is scheduled", "start one: leasehold run scheduler")
    return ok("upkeep", detail)
