"""What is known of one run of the census. All times are the database's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import quantiles

import msgspec

from leasehold.client import Client
from leasehold.demo.stdlib_census.measures import FileMeasures
from leasehold.demo.troupe import LEASE_SECONDS
from leasehold.records.jobs import HELD, JobRecord
from leasehold.records.measures import Failure

SLOW_FILES, STUMBLES = 6, 2
MOST = 1000


class Pickup(msgspec.Struct, frozen=True):
    """Milliseconds from enqueue to start of a number of jobs."""

    jobs: int
    p50_ms: float
    p99_ms: float


class Recovery(msgspec.Struct, frozen=True):
    """What became of the jobs that the killed worker held: seconds from the kill until they had started again."""

    worker: str
    jobs: int
    first_seconds: float
    last_seconds: float
    lease_seconds: float


class CensusRun(msgspec.Struct, kw_only=True):
    """One run in `queue`, so far.

    `acknowledged` are the ids that producers got, the first one first. A job in `jobs` that was completed twice is there twice.
    The worker `victim` was killed at `killed_at`. `reported` is what the census counted, `plain` the count without jobs.
    """

    name: str
    queue: str
    acknowledged: list[int] = []
    seen_at: datetime | None = None
    jobs: Sequence[JobRecord] = ()
    failures: Sequence[Failure] = ()
    victim: str = ""
    killed_at: datetime | None = None
    plain: Mapping[str, FileMeasures] = {}
    plain_seconds: float = 0.0
    reported: Mapping[str, FileMeasures] = {}
    ended_badly: Sequence[str] = ()

    async def look(self, client: Client, columns: Sequence[str] | None = None) -> None:
        """See how it goes now; `columns` as in `client.jobs.search`."""
        async with client.transaction() as tx:
            [[self.seen_at]] = await tx.fetch("select leasehold.clock()")
        jobs: list[JobRecord] = []
        first_id, before_id = self.acknowledged[0], None
        while before_id is None or before_id > first_id:
            page = await client.jobs.search(queue=self.queue, before_id=before_id, page_size=MOST, columns=columns)
            jobs += page.jobs
            before_id = page.next_before_id or 0
        self.jobs = jobs
        failures = await client.metrics.failures(min(job.created_at for job in jobs), MOST)
        self.failures = [each for each in failures if each.queue == self.queue]

    def of_kind(self, name: str) -> list[JobRecord]:
        """Of `census.name`."""
        return [job for job in self.jobs if job.kind == f"census.{name}"]

    def ended(self, name: str) -> list[JobRecord]:
        """Those of `census.name` that have ended."""
        return [job for job in self.of_kind(name) if job.finished_at is not None]

    def held_by(self, worker: str) -> int:
        """How many jobs this worker holds."""
        return sum(job.worker_id == worker and job.state in HELD for job in self.jobs)

    def busy_worker(self) -> str | None:
        """The worker that runs most of the jobs which wait for the cue."""
        busy = [str(job.worker_id) for job in self.of_kind("measure") if job.state == "running" and job.args["cue"]]
        return max(sorted(busy), key=busy.count, default=None)

    @property
    def completed(self) -> list[JobRecord]:
        return [job for job in self.jobs if job.state == "completed"]

    @property
    def taken_back(self) -> Mapping[int, int]:
        """The jobs that were taken back from the killed worker, each with the attempt that died."""
        since = self.killed_at
        return {
            each.job_id: each.attempt
            for each in self.failures
            if since and each.at >= since and each.worker_id == self.victim
        }

    @property
    def retries(self) -> int:
        """Failed attempts, without those of the killed worker."""
        return len(self.failures) - len(self.taken_back)

    @property
    def lost(self) -> int:
        """Acknowledged jobs and files without a completed job, and a missing report."""
        done = {job.id for job in self.completed} | {job.args.get("file") or job.kind for job in self.completed}
        return len({*self.acknowledged, *self.plain, "census.report"} - done)

    @property
    def recovery(self) -> Recovery:
        """From the kill until started again."""
        died, since = self.taken_back, self.killed_at
        again = {
            job.id: (job.started_at - since).total_seconds()
            for job in self.jobs
            if since and job.started_at and job.attempt > died.get(job.id, job.attempt)
        }
        first, last = min(again.values(), default=0.0), max(again.values(), default=0.0)
        return Recovery(self.victim, len(again), first, last, LEASE_SECONDS)


def pickup_of(jobs: Sequence[JobRecord]) -> Pickup:
    """Enqueue to start of those that needed one attempt only; the others' times tell of their troubles."""
    waits = [
        (job.started_at - job.created_at).total_seconds() * 1000 for job in jobs if job.started_at and job.attempt == 1
    ]
    if len(waits) < 2:
        return Pickup(len(waits), *(waits * 2 or [0.0, 0.0]))
    percentiles = quantiles(waits, n=100, method="inclusive")
    return Pickup(len(waits), round(percentiles[49], 3), round(percentiles[98], 3))


def span_of(jobs: Sequence[JobRecord]) -> float:
    """Seconds from the first enqueue to the last end."""
    ends = [job.finished_at for job in jobs if job.finished_at is not None]
    return (max(ends) - min(job.created_at for job in jobs)).total_seconds() if ends else 0.0
