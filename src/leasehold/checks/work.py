"""The work itself: settings that fight each other, overdue jobs, workers that died, back off or cannot hear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leasehold.checks.verdicts import Check, advise, ok, problem
from leasehold.observability.wording import show_instant, show_span

if TYPE_CHECKING:
    from leasehold.checks.verdicts import Examined
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
       v.listening or v.heartbeat_seconds is null as hears
  from leasehold.list_workers() w join leasehold.workers v using (incarnation)
"""
IS_WAITED_FOR = "select exists (select from leasehold.jobs where state = 'pending') as is_waited_for"


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


async def check_jobs(database: Examined) -> Check:
    """Nothing is overdue for long."""
    [row] = await database.fetch(OVERDUE)
    return judge_jobs(row["jobs"], await database.fetch(UNCLAIMED, MOST_COUNTED), await _stuck(database))


async def _stuck(database: Examined) -> Sequence[Any]:
    """Jobs that no reaper can take back, with the sessions that keep it from them."""
    return await database.call("list_stuck_leases")


def judge_jobs(overdue: int, unclaimed: Sequence[Any], stuck: Sequence[Any] = ()) -> Check:
    """The worst that can be said of them: paused work is meant to wait."""
    unserved = [each for each in unclaimed if each["reason"] == "unserved"]
    found = [each["explanation"] for each in stuck[:MOST_NAMED]]
    advice = (
        [
            "a reaper ends such a session after LEASEHOLD_SESSION_GRACE_SECONDS; by hand: select pg_terminate_backend(pid)"
        ]
        if stuck
        else []
    )
    if overdue > len(stuck):
        found.append(f"{overdue - len(stuck)} overdue, and no worker or reaper sees to it")
        advice.append("look at `leasehold audit`")
    if unserved:
        found.append(f"nobody serves {_name_kinds(unserved)}")
        advice.append("start a worker that has both the queue and the kind; see `leasehold workers list`")
    if found:
        return problem("jobs", "; ".join(found), ". ".join(advice))
    if unclaimed:
        advised = "leasehold queues resume QUEUE, or leasehold workers resume WORKER, when they may run"
        return advise("jobs", f"paused, and jobs wait: {_name_kinds(unclaimed)}", advised)
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


async def check_workers(database: Examined, settings: Settings) -> Check:
    """Registered workers are alive and hear notifications, and there is a worker when jobs wait."""
    [row] = await database.fetch(IS_WAITED_FOR)
    workers = await database.fetch(WORKERS)
    return judge_workers(workers, row["is_waited_for"], settings.notify, bool(await _stuck(database)))


def judge_workers(workers: Sequence[Any], is_waited_for: bool, notify: bool, is_stuck: bool = False) -> Check:
    """The worst that can be said of them."""
    dead = [each for each in workers if each["state"] == "stale"]
    alive = [each for each in workers if each["state"] != "stale"]
    detail = f"{len(alive)} alive"
    if holding := [each for each in dead if each["active_jobs"]]:
        jobs = sum(each["active_jobs"] for each in holding)
        detail += f"; died with {jobs} jobs in hand: {_name(holding)}"
        advice = "is a reaper running? By hand: leasehold reap"
        return problem("workers", detail, "sessions hold their jobs, see `jobs` here" if is_stuck else advice)
    if is_waited_for and not alive:
        return problem("workers", "none alive, and jobs are pending", "start one: leasehold run worker")
    if dead:
        return advise(
            "workers", f"{detail}; died without a word: {_name(dead)}", "look into its log: out of memory, kill -9?"
        )
    return _judge_living(alive, detail, notify)


def _judge_living(alive: Sequence[Any], detail: str, notify: bool) -> Check:
    if held_back := [each for each in alive if each["state"] == "ready" and each["backoff"] is not None]:
        return advise("workers", f"{detail}; backing off: {_name_held_back(held_back)}", _relieve(held_back))
    if deaf := [each for each in alive if notify and not each["hears"]]:
        detail += f"; deaf to notifications, so polling: {_name(deaf)}"
        return advise("workers", detail, "see `notify` and `pooler` here, and the log of that worker")
    if outdated := [each for each in alive if each["outdated"]]:
        detail += f"; of another version than the worker that started last: {_name(outdated)}"
        return advise("workers", detail, "fine during a rolling upgrade; else restart it")
    return ok("workers", detail)


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
