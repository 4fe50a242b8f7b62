"""What a job costs because its handler runs in a process: `python -m benchmarks.process_overhead`.

No database: a slot runs jobs that do nothing. Each line is the median of its rounds.
"""

from __future__ import annotations

import statistics
from functools import partial
from time import perf_counter

import trio

from leasehold import App
from leasehold.actors.attempts.held_job import Backlog, HeldJob
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.processes.pool import ProcessPool
from leasehold.actors.running.settler import Outcomes
from leasehold.actors.running.slot import Slot, SlotContext
from tests.support.held import held_job

ROUNDS = 2_000
LONG = '{"text":"' + "x" * 10_000_000 + '"}'

app = App()


@app.kind()
def nothing_in_a_thread(text: str = "") -> None:
    """Do nothing."""


@app.kind(runs="process")
def nothing_in_a_process(text: str = "") -> None:
    """Do nothing."""


@app.kind(runs="process", memory_limit=1 << 30)
def nothing_within_a_limit(text: str = "") -> None:
    """Do nothing, with somebody watching."""


class OneSlot:
    """A slot that runs one job at a time, and keeps no outcomes."""

    def __init__(self, pool: ProcessPool) -> None:
        self._backlog, self._outcomes = Backlog(), Outcomes()
        self._backlog.close()
        threads = trio.CapacityLimiter(1)
        self._slot = Slot(SlotContext(WorkerIdentity("w1"), threads, self._backlog, self._outcomes, processes=pool))

    async def run(self, held: HeldJob) -> None:
        """Run this job."""
        self._backlog.extend([held])
        await self._slot.run()
        self._outcomes.remove(1)


async def measure(slot: OneSlot, kind: str, args: str, rounds: int) -> float:
    """Median seconds of a job, held already."""
    taken: list[float] = []
    for _ in range(rounds):
        held = held_job(kind=app.find(kind), args=args)
        started = perf_counter()
        await slot.run(held)
        taken.append(perf_counter() - started)
    return statistics.median(taken)


async def main() -> None:
    """Print the table."""
    for _ in range(3):
        started = perf_counter()
        async with ProcessPool(1) as pool:
            slot = OneSlot(pool)
            await slot.run(held_job(kind=app.find("nothing_in_a_process")))
            first = perf_counter() - started
            run = partial(measure, slot)
            print(f"first job, which starts the process   {first * 1e3:8.0f} ms")
            for kind in app:
                print(f"{kind.name:<38}{await run(kind.name, '{}', ROUNDS) * 1e6:8.0f} µs")
            for kind in app:
                print(f"{kind.name}, 10 MB".ljust(38) + f"{await run(kind.name, LONG, 20) * 1e3:8.1f} ms")


if __name__ == "__main__":
    trio.run(main)
