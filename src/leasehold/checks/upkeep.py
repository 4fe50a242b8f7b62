"""Upkeep: whether a scheduler and a reaper are connected. They leave no rows of their own, but their sessions have names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leasehold.checks.verdicts import Check, advise, ok, problem, skipped
from leasehold.database.connector import Pooler

if TYPE_CHECKING:
    from leasehold.checks.verdicts import Examined

# A process names its sessions `leasehold ACTOR+ACTOR PID PURPOSE`.
CONNECTED = """
select count(distinct split_part(application_name, ' ', 3)) filter (where 'scheduler' = any (names)) as schedulers,
       count(distinct split_part(application_name, ' ', 3)) filter (where 'reaper' = any (names)) as reapers,
       exists (select from leasehold.jobs j where j.state = 'scheduled')
           or exists (select from leasehold.schedules s where s.next_run_at is not null) as is_anything_scheduled
  from (select a.application_name, string_to_array(split_part(a.application_name, ' ', 2), '+') as names
          from pg_stat_activity a where a.datname = current_database() and a.application_name like 'leasehold %') s
"""


async def check_upkeep(database: Examined) -> Check:
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
