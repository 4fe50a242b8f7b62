"""A slot without a worker."""

from __future__ import annotations

from typing import Any

import trio

from leasehold.actors.attempts.held_job import Backlog, HeldJob, Holdings
from leasehold.actors.attempts.outcome import Outcome
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.running.settler import Outcomes
from leasehold.actors.running.slot import Slot, SlotContext
from leasehold.jobs.kind import CheckedKindOptions, Kind, Runs


class Running:
    """A slot, and what it settled."""

    def __init__(self, **context: Any) -> None:
        self.backlog, self.outcomes, self.holdings = Backlog(), Outcomes(), Holdings()
        threads = trio.CapacityLimiter(1)
        self.slot = Slot(
            SlotContext(WorkerIdentity("w1"), threads, self.backlog, self.outcomes, holdings=self.holdings, **context)
        )

    async def run(self, *jobs: HeldJob) -> None:
        """Run these jobs, one after another."""
        self.holdings.add(jobs)
        self.backlog.extend(list(jobs))
        self.backlog.close()
        await self.slot.run()

    @property
    def settled(self) -> list[Outcome]:
        """What came of the jobs."""
        return self.outcomes.first(100)

    def held(self) -> HeldJob:
        """The job that runs."""
        assert self.slot.held is not None
        return self.slot.held


def a_kind(function: Any, runs: Runs | None = None, **options: Any) -> Kind[..., Any]:
    """A kind with the name of its handler."""
    return Kind(function.__name__, function, runs, CheckedKindOptions(**options))
