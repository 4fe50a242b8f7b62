"""Claiming: jobs that nothing stands in the way of and nobody takes, and how long a claim lasts."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from leasehold.checks.verdicts import Check, ok, problem
from leasehold.errors import DatabaseUnavailable
from leasehold.observability.wording import show_span

if TYPE_CHECKING:
    from leasehold.checks.verdicts import Examined

SLOW_MILLISECONDS = 50.0
PATIENCE_SECONDS = 5.0
MOST_NAMED = 3

# The first job of each kind that has waited for long and of which nothing has finished lately, where a worker has a free slot.
OVERLOOKED = """
select r.queue, r.kind, j.id, e.explanation, extract(epoch from leasehold.clock() - r.oldest_run_at)::float8 as waits_for
  from (select * from leasehold.list_ready_kinds() where oldest_run_at < leasehold.clock() - make_interval(secs => $1)
         order by oldest_run_at limit 20) r
 cross join lateral (select p.id from leasehold.jobs p where p.state = 'pending' and p.queue = r.queue and p.kind = r.kind
                      order by p.priority desc, p.run_at, p.id limit 1) j
 cross join lateral leasehold.explain_job(j.id) e
 where e.reason = 'idle_worker' and leasehold.measure_rate(r.queue, r.kind) is null
 order by r.oldest_run_at
"""


CURES = {
    "53100": "make room on the disk of Postgres",
    "53200": "raise max_locks_per_transaction, which says how much room there is for locks, and restart Postgres",
    "53300": "raise max_connections, or put a pooler in front",
}
"""What to do where Postgres has run out of something, by SQLSTATE."""


async def check_claims(database: Examined, overlooked_after: float = 60.0) -> Check:
    """Free workers take what they may take, and a claim is quick. The claim that is timed is undone."""
    try:
        overlooked = await database.fetch(OVERLOOKED, overlooked_after)
        return judge_claims(overlooked, min([await _time_a_claim(database) for _ in range(2)]))
    except DatabaseUnavailable as error:
        return judge_failure(str(error))


async def _time_a_claim(database: Examined) -> float:
    """Milliseconds of a claim of one job of any kind and queue."""
    transaction = await database.begin()
    try:
        begun = perf_counter()
        await transaction.call("claim_jobs", uuid4(), "doctor", timeout=PATIENCE_SECONDS)
        return (perf_counter() - begun) * 1000
    finally:
        await transaction.roll_back()


def judge_claims(overlooked: Sequence[Any], milliseconds: float) -> Check:
    """The worse of both."""
    if overlooked:
        first, *others = overlooked
        detail = f"job {first['id']} of kind {first['kind']} in queue {first['queue']} waits for "
        detail += f"{show_span(first['waits_for'])} and {first['explanation']}"
        detail += f"; so does the first job of {len(others)} more kinds" if others else ""
        return problem("claims", detail, "look into the logs of these workers: do they reach the database?")
    if milliseconds > SLOW_MILLISECONDS:
        advice = "cure what `horizon`, `bloat` and `autovacuum` say; then reindex table concurrently leasehold.jobs"
        return problem("claims", f"a claim of one job takes {milliseconds:.0f} ms", advice)
    return ok("claims", f"a claim of one job takes {milliseconds:.1f} ms")


def judge_failure(error: str) -> Check:
    """A claim that failed, or did not end."""
    advice = next((cure for state, cure in CURES.items() if state in error), "look into the log of Postgres")
    return problem("claims", f"a claim of one job failed: {error}", advice)
