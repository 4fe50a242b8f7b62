"""Whether the database has lost what it had acknowledged: by a failover with commits behind, or by a restore."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leasehold.checks.verdicts import Check, advise, ok, problem
from leasehold.observability.wording import show_span

if TYPE_CHECKING:
    from leasehold.database import Caller

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
