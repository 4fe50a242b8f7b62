"""Watches every change of a job row from inside the database, in the true order, whoever makes it."""

from __future__ import annotations

from leasehold.database import Caller
from tests.support.sql_jobs import Scripted

WATCH = """
create table public.audit (
    n bigint generated always as identity, job_id bigint, old_state text, new_state text, key text,
    old_attempt int, new_attempt int, old_owner uuid, new_owner uuid, xid xid8 default pg_current_xact_id()
);
create function public.watch() returns trigger language plpgsql as $$
begin
    insert into public.audit (job_id, old_state, new_state, key, old_attempt, new_attempt, old_owner, new_owner)
    values (coalesce(new.id, old.id), old.state, new.state, coalesce(new.key, old.key), old.attempt, new.attempt,
            old.incarnation, new.incarnation);
    return null;
end
$$;
create trigger watch after insert or update or delete on leasehold.jobs for each row execute function public.watch();
"""

# A claim marks a suspect as taken before it takes it, in one transaction that nobody sees the middle of: one change.
CHANGES = """
select case when is_taken then before_state else old_state end as old_state, new_state, job_id, new_attempt, new_owner,
       case when is_taken then before_attempt else old_attempt end as old_attempt,
       case when is_taken then before_owner else old_owner end as old_owner
  from (select a.*, lag(a.is_mark) over made and a.new_attempt = a.old_attempt + 1 as is_taken,
               lag(a.old_state) over made as before_state, lag(a.old_attempt) over made as before_attempt,
               lag(a.old_owner) over made as before_owner,
               a.is_mark and lead(a.new_attempt) over made = a.new_attempt + 1 as is_marked
          from (select *, old_state = 'pending' and new_state = 'claimed' and new_attempt = old_attempt as is_mark
                  from public.audit) a
        window made as (partition by a.xid, a.job_id order by a.n)) b
 where is_marked is not true
 order by n
"""

HELD = ("claimed", "running")

# From each state to each other. None is: not in the table (not made yet, or finished).
ALLOWED: dict[str | None, set[str | None]] = {
    None: {"pending", "scheduled", "waiting", "blocked"},
    "pending": {"claimed", "waiting", "scheduled", None},
    "scheduled": {"pending", "waiting", None},
    "waiting": {"pending", "scheduled", None},
    "blocked": {"blocked", "pending", "waiting", "scheduled", None},
    "claimed": {"claimed", "running", "pending", "waiting", "scheduled", "blocked", None},
    "running": {"running", "pending", "waiting", "scheduled", "blocked", None},
}


async def watch(caller: Scripted) -> None:
    """From now on every change is noted."""
    await caller.execute(WATCH)


async def broken_rules(caller: Caller) -> list[str]:
    """What happened that must never happen, in words; empty when all is well."""
    broken: list[str] = []
    attempts: dict[int, int] = {}
    for row in await caller.fetch(CHANGES):
        old, new, job_id = row["old_state"], row["new_state"], row["job_id"]
        if new not in ALLOWED[old]:
            broken.append(f"job {job_id} went from {old} to {new}")
        is_claim = old == "pending" and new == "claimed"
        if old is not None and new is not None and row["new_attempt"] != row["old_attempt"] + is_claim:
            broken.append(f"job {job_id}: attempt {row['old_attempt']} became {row['new_attempt']} from {old} to {new}")
        if is_claim and row["new_attempt"] <= attempts.get(job_id, 0):
            broken.append(f"job {job_id}: attempt {row['new_attempt']} was given twice")
        if is_claim:
            attempts[job_id] = row["new_attempt"]
        if old in HELD and new in HELD and row["old_owner"] != row["new_owner"]:
            broken.append(f"job {job_id} changed its owner without being given up")
    return broken


async def conservation(caller: Caller) -> list[str]:
    """Jobs that are in both tables or finished twice."""
    rows = await caller.fetch("select id from leasehold.all_jobs group by id having count(*) > 1")
    return [f"job {row['id']} is there more than once" for row in rows]
