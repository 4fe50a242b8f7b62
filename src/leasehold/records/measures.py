"""How workers and queues fare, in numbers, as `client.metrics` answers; and what the findings of an audit mean."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec


class FleetMeasures(msgspec.Struct, frozen=True, kw_only=True):
    """The workers and what they hold.

    Attributes:
        ready, paused, draining, stale: workers by state. backing_off: those that claim nothing for lack of memory or CPU.
        deaf: those that poll because they do not hear notifications.
        slots: of ready workers. held_jobs: claimed and running.
        overdue_jobs: whose lease has run out and nobody has taken them back yet.
        lost_jobs: taken back so far from workers that are still known. lost_wake_ups: jobs that those found by polling, though
            they listened and nobody had rung for them.
    """

    ready: int
    paused: int
    draining: int
    stale: int
    backing_off: int
    deaf: int
    slots: int
    held_jobs: int
    overdue_jobs: int
    lost_jobs: int
    lost_wake_ups: int


class OldestReady(msgspec.Struct, frozen=True, kw_only=True):
    """For how many seconds the oldest job of a queue that could run has waited."""

    queue: str
    waits_for: float


class UnclaimedKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind whose ready jobs in a queue nobody will claim.

    Attributes:
        reason: `paused`: the queue is; `paused_workers`: all that serve it are; `unserved`: no live worker has both.
        jobs: ready, counted up to a limit.
        oldest_run_at: when the first of them was due. waits_for: seconds since.
    """

    queue: str
    kind: str
    reason: str
    jobs: int
    oldest_run_at: datetime
    waits_for: float


class StuckKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key that one job has held for long while others of the key wait for it.

    Attributes:
        job_id, kind, queue, attempt, worker_id: of the job that holds it, since `claimed_at`, for `held_for` seconds.
        waiting: jobs that wait for the key, counted up to 1000.
    """

    key: str
    job_id: int
    kind: str
    queue: str
    attempt: int
    worker_id: str | None
    claimed_at: datetime
    held_for: float
    waiting: int


class SlowQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A queue whose attempts take much longer than shortly before.

    Attributes:
        average_run: seconds that an attempt took from `since` to `until`; `ended` attempts.
        usual_run: the same for the time before; `usually_ended` attempts.
    """

    queue: str
    average_run: float
    usual_run: float
    ended: int
    usually_ended: int
    since: datetime
    until: datetime


class QueueTotals(msgspec.Struct, frozen=True, kw_only=True):
    """What has happened in a queue since `since`; moved once a minute. `waits` and `runs` count by the bounds of
    `time_bounds`, the last one what is above them all."""

    queue: str
    arrivals: int
    starts: int
    completed: int
    failed: int
    cancelled: int
    retries: int
    wait_seconds: float
    run_seconds: float
    waits: list[int]
    runs: list[int]


class QueueThroughput(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs arrived in and left a queue since the last look."""

    queue: str
    arrived: int
    completed: int
    failed: int
    cancelled: int


class Throughput(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs arrived in and left all queues. The next look takes `at` and `newest_id`."""

    at: datetime
    newest_id: int
    queues: list[QueueThroughput]


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that failed; `is_final`: and the job with it. kind and queue are None where the job is gone."""

    at: datetime
    job_id: int
    attempt: int
    kind: str | None
    queue: str | None
    worker_id: str | None
    message: str | None
    is_final: bool


class FailureGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Failures of one kind, with one type of error, at one place of the code.

    Attributes:
        fingerprint: the same for all of them, in each release.
        kind: None where the jobs are gone. error_type, place: what is known of the error.
        failures: attempts and jobs that failed. failed_jobs: those that failed for good.
        last_job_id, last_message: of the one at `last_at`.
        versions: of the app, of those workers that are still known.
        counts: failures in each of 24 equal parts of the time from `starts_at` to `ends_at`, the oldest first.
        is_partial: there were more failures than were looked at; the older ones do not count.
        trend: the last sixth of the time beside what came before it. `quiet`: it has none in it. `new`: it has all in it.
            `rising`: three or more, and at least three times as many an hour as before. `steady`: else. None where `is_partial`.
    """

    fingerprint: str
    kind: str | None
    error_type: str | None
    place: str | None
    failures: int
    failed_jobs: int
    first_at: datetime
    last_at: datetime
    last_job_id: int
    last_message: str | None
    queues: list[str]
    versions: list[str]
    counts: list[int]
    starts_at: datetime
    ends_at: datetime
    is_partial: bool
    trend: Literal["new", "rising", "steady", "quiet"] | None = None


class GroupFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A failure of a group; `is_final`: and the job with it. `app_version` is that of its worker, where that is still known."""

    at: datetime
    job_id: int
    attempt: int
    kind: str | None
    queue: str | None
    worker_id: str | None
    app_version: str | None
    message: str | None
    is_final: bool


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
