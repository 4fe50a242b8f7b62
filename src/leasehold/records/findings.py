"""What the findings of an audit mean, and what to do about them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Meaning(msgspec.Struct, frozen=True):
    """What a finding says, and what helps. `is_repairable`: `leasehold audit --repair` does that, else people decide."""

    meaning: str
    remedy: str
    is_repairable: bool = False


MEANINGS: Mapping[str, Meaning] = {
    "held_by_nobody": Meaning(
        "A lease expired and nobody took the job back: no reaper runs.", "Take the job back.", True
    ),
    "overdue": Meaning(
        "A scheduled job is due and nobody made it claimable: no scheduler and no worker runs.",
        "Make it claimable.",
        True,
    ),
    "deadline_missed": Meaning("A deadline passed and the job is still there: no reaper runs.", "Fail the job.", True),
    "waiting_for_nobody": Meaning("A job waits for a key that nobody holds.", "Promote it.", True),
    "blocked_by_nothing": Meaning("A job waits for chains that have all ended.", "Unblock it.", True),
    "edge_of_nobody": Meaning("The job that waits does not exist: it was deleted by hand.", "Remove the edge.", True),
    "partition_missing": Meaning("Today's or tomorrow's partition does not exist.", "Make it.", True),
    "rows_in_default_partition": Meaning(
        "Rows are in the default partition instead of their day's.", "Move up to 10 000 of a day.", True
    ),
    "unserved": Meaning(
        "Jobs of a kind are ready and no live worker has both the queue and the kind.",
        "Start a worker that has them, or cancel the jobs.",
    ),
    "blocked_for_ever": Meaning(
        "A chain that a job waits for failed, was cancelled or is gone.", "Retry that chain, or cancel the job."
    ),
    "waits_in_a_circle": Meaning(
        "Chains wait for each other in a circle, so none can go on.", "Cancel one, or complete it from outside."
    ),
    "unheeded_blocker": Meaning(
        "A job is not blocked although a chain that it waits for is open: somebody set its state by hand.",
        "Look at the job and decide.",
    ),
    "succession_lost": Meaning(
        "A finished job names a successor that does not exist: it was deleted by hand.", "Look at the chain and decide."
    ),
    "two_tails": Meaning("A chain has two open jobs.", "Cancel one of them."),
    "open_and_finished": Meaning("A job is open and finished at once.", "Look at the job and decide."),
    "attempts_absurd": Meaning(
        "A job has had more attempts than allowed, or more spared attempts than attempts: somebody changed its row by hand.",
        "Edit its attempts, or cancel it.",
    ),
    "unmarked_limit": Meaning(
        "A job is held in a queue with a limit, and the limit does not count it.",
        "Wait until it ends; then look again.",
    ),
    "tick_overdue": Meaning(
        "A tick of a schedule is due and did not fire: no scheduler runs, or its query hangs.", "Start a scheduler."
    ),
    "schedule_unplanned": Meaning(
        "A schedule was made or changed, and nobody computed its next tick: no scheduler runs.", "Start a scheduler."
    ),
    "partition_orphaned": Meaning(
        "A table has the name of a partition and is not attached.", "Look at its rows, then attach or drop it."
    ),
    "payload_without_content": Meaning(
        "The file of a payload is missing in the payload store, or has another length than was written.",
        "Delete the payload.",
        True,
    ),
    "file_of_nobody": Meaning(
        "A file in the payload store is a day old and no payload names it: a process died while it saved.",
        "Delete the file.",
        True,
    ),
    "store_unavailable": Meaning(
        "The payload store does not answer, so payloads are not audited; jobs that need them wait or fail.",
        "Look at LEASEHOLD_PAYLOADS_STORE, the network and the rights there.",
    ),
    "audit_unfinished": Meaning(
        "There are more payloads than could be compared with the store in this time.",
        "Run leasehold audit, which takes as long as it needs.",
    ),
}
"""By the name of the finding: those of `find_faults`, then those of the payload store."""
UNKNOWN = Meaning(
    "The database knows this finding, and this release does not.", "Ask the documentation of the newer one."
)
