"""What the states of jobs should be, worked out in Python without a database: the other side of a comparison.

`pending` and `waiting` are one state here, `ready`: which of them a job with a key is in depends on its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

READY = ("pending", "waiting")
HELD = ("claimed", "running")
DONE = ("completed", "failed", "cancelled")


class ModelEdge(msgspec.Struct):
    """Closed by the completion of the chain, or by any end of it."""

    chain: int
    is_closed: bool = False
    output: str | None = None
    is_any_end: bool = False
    end_state: str | None = None

    def hear(self, tail: ModelJob) -> None:
        """How the chain stands now."""
        if self.is_closed or tail.next is not None:
            return
        if tail.state == "completed":
            self.is_closed, self.output = True, tail.output
        elif self.is_any_end and tail.state in DONE:
            self.is_closed, self.end_state = True, tail.state


class ModelJob(msgspec.Struct, kw_only=True):
    """Times are whole seconds of the frozen clock."""

    id: int
    chain: int
    position: int = 0
    state: str = "ready"
    key: str | None = None
    priority: int = 0
    run_at: int = 0
    max_attempts: int = 20
    attempt: int = 0
    spared: int = 0
    holder: int | None = None
    lease_until: int = 0
    output: str | None = None
    next: int | None = None
    crashes: int = 0
    unique: str | None = None
    args: str = "{}"
    edges: list[ModelEdge] = msgspec.field(default_factory=list[ModelEdge])


class Model:
    """All jobs, and the time."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.jobs: dict[int, ModelJob] = {}

    def of(self, *states: str) -> list[ModelJob]:
        return [job for job in self.jobs.values() if job.state in states]

    def held_by(self, worker: int) -> list[ModelJob]:
        return [job for job in self.of(*HELD) if job.holder == worker]

    def chains(self) -> list[int]:
        return [job.id for job in self.jobs.values() if job.chain == job.id]

    def unfinished(self, unique: str | None) -> ModelJob | None:
        """The job that keeps others of this unique key out."""
        return next(
            (job for job in self.jobs.values() if unique and job.unique == unique and job.state not in DONE), None
        )

    def tail(self, chain: int) -> ModelJob:
        return max((job for job in self.jobs.values() if job.chain == chain), key=lambda job: job.position)

    def add(self, job: ModelJob, blockers: Iterable[tuple[int, bool]], delay: int) -> None:
        """A new job. Its blockers must be in the model, or it waits for itself."""
        self.jobs[job.id] = job
        job.run_at = self.now + delay
        self.add_edges(job, blockers)
        self.settle_into(job)

    def add_edges(self, job: ModelJob, blockers: Iterable[tuple[int, bool]]) -> None:
        """Blockers are chains, and whether any end of them will do."""
        for chain, is_any_end in blockers:
            edge = ModelEdge(chain, is_any_end=is_any_end)
            edge.hear(self.tail(chain))
            job.edges.append(edge)

    def settle_into(self, job: ModelJob) -> None:
        """Blocked, scheduled or ready, as its edges and its time say; nobody holds it."""
        job.holder = None
        if not all(edge.is_closed for edge in job.edges):
            job.state = "blocked"
        else:
            job.state = "scheduled" if job.run_at > self.now else "ready"

    def claim(self, job: ModelJob, worker: int, lease: int) -> None:
        job.state, job.holder, job.attempt, job.lease_until = "claimed", worker, job.attempt + 1, self.now + lease

    def make_due(self) -> None:
        for job in self.of("scheduled"):
            if job.run_at <= self.now:
                job.state = "ready"

    def finish(self, job: ModelJob, state: str, output: str | None = None, following: int | None = None) -> None:
        job.state, job.holder, job.output, job.next = state, None, output, following

    def close(self, chains: Sequence[int]) -> None:
        """What the end of these chains means for others."""
        for chain in chains:
            tail = self.tail(chain)
            for job in self.jobs.values():
                for edge in job.edges:
                    if edge.chain == chain:
                        edge.hear(tail)
        for job in self.of("blocked"):
            if all(edge.is_closed for edge in job.edges):
                job.run_at = max(job.run_at, self.now)
                self.settle_into(job)

    def again(self, job: ModelJob, *, run_at: int | None, is_spared: bool) -> None:
        """Back from whoever held it."""
        job.run_at = job.run_at if run_at is None else run_at
        job.spared += is_spared
        job.holder = None
        job.state = "scheduled" if run_at is not None and run_at > self.now else "ready"

    def change(self, job: ModelJob, *, args: str | None, priority: int | None, run_at: int | None) -> None:
        """What a second job of its unique key has made of one that nobody holds."""
        job.args = job.args if args is None else args
        job.priority = job.priority if priority is None else priority
        job.run_at = job.run_at if run_at is None else run_at
        self.settle_into(job)

    def is_last(self, job: ModelJob) -> bool:
        return job.attempt - job.spared >= job.max_attempts

    def retry(self, job: ModelJob) -> None:
        if job.state != "scheduled":
            job.max_attempts = max(job.max_attempts, job.attempt - job.spared + 1)
        job.run_at = self.now
        self.settle_into(job)
