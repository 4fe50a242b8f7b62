"""How many slots for which work: jobs a second of one worker that waits shortly, waits long, or computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from benchmarks.drain import drain
from benchmarks.figures import Figure, Result, Say, Size, middle
from benchmarks.server import Server

SIZES = {"full": (8_000, 3), "quick": (2_000, 1), "tiny": (16, 1)}
SLOTS = (4, 16, 64)


class Work(msgspec.Struct, frozen=True):
    """What a job does, and which share of the jobs of a round is enough to measure it."""

    kind: str
    seconds: float
    share: float = 1.0

    @property
    def args(self) -> str:
        """Of each of its jobs."""
        return msgspec.json.encode({"seconds": self.seconds}).decode()


WORKS: Mapping[str, Work] = {
    "waits 1 ms": Work("nap", 0.001),
    "waits 50 ms": Work("nap", 0.05, 0.25),
    "computes 1 ms": Work("burn", 0.001),
}


class SlotsResult(Result, frozen=True, kw_only=True):
    """Jobs a second by work and number of slots, in the order of the rounds."""

    rounds: Mapping[str, Mapping[int, Sequence[float]]]


async def measure(server: Server, size: Size, say: Say) -> SlotsResult:
    """Each kind of work with each number of slots, in turns; each on a fresh database."""
    jobs, rounds = SIZES[size]
    numbers = SLOTS[:1] if size == "tiny" else SLOTS
    found: dict[str, dict[int, list[float]]] = {name: {slots: [] for slots in numbers} for name in WORKS}
    for _ in range(rounds):
        for name, work in WORKS.items():
            for slots in numbers:
                run = await drain(server, int(jobs * work.share), 1, kind=work.kind, args=work.args, slots=slots)
                found[name][slots].append(run.jobs_per_second)
                say(f"{name}, {slots} slots: {run.jobs_per_second:,.0f} jobs/s")
    figures = [
        Figure(name=f"{name}, {slots} slots", value=middle(speeds), unit="jobs/s")
        for name, by_slots in found.items()
        for slots, speeds in by_slots.items()
    ]
    return SlotsResult(figures=figures, rounds=found)
