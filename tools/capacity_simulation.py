"""How far the forecast is from what happens: simulates queues job by job, and writes the comparison into docs/capacity.md.

    python -m tools.capacity_simulation    # the tables and docs/images/capacity-error.svg, a minute or two

The simulation is the plain definition: jobs come at random, the slot that is free first takes the oldest one. Run times are drawn
from a gamma distribution (a two-branch hyperexponential one above a variation of 1) with the given mean and variation.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterator
from math import sqrt
from pathlib import Path

import msgspec

from leasehold.capacity.forecast import SHARE, QueueLoad, desired_slots, forecast
from tools.capacity_picture import Point, picture

DOCS = Path(__file__).parent.parent / "docs"
PICTURE = DOCS / "images" / "capacity-error.svg"
BEGIN, END = "<!-- simulation: begin -->", "<!-- simulation: end -->"
HORIZON = 3600.0
STEADY_JOBS = 400_000
REPEATS = 20

STEADY = [
    (slots, busy, variation) for slots in (1, 3, 10, 50) for busy in (0.5, 0.8, 0.95) for variation in (0.0, 1.0, 4.0)
]
BACKLOGS = [
    (3, 0.5, 1.0, 300),
    (10, 0.8, 1.0, 1000),
    (10, 0.8, 4.0, 200),
    (50, 0.9, 0.0, 5000),
    (10, 1.2, 1.0, 0),
    (10, 1.2, 1.0, 500),
]


class Case(msgspec.Struct, frozen=True):
    """One comparison: what the forecast says and what came of it, in seconds."""

    name: str
    slots: int
    busy: float
    variation: float
    backlog: int
    predicted_average: float | None
    measured_average: float | None
    predicted: float
    measured: float


def drawing(seconds: float, variation: float, chance: random.Random) -> Callable[[], float]:
    """Run times with this mean and squared coefficient of variation."""
    if variation == 0:
        return lambda: seconds
    if variation == 1:
        return lambda: chance.expovariate(1 / seconds)
    if variation < 1:
        return lambda: chance.gammavariate(1 / variation, seconds * variation)
    share = (1 + sqrt((variation - 1) / (variation + 1))) / 2
    return lambda: chance.expovariate(2 * share / seconds if chance.random() < share else 2 * (1 - share) / seconds)


def waits(
    load: QueueLoad, slots: int, chance: random.Random, jobs: int | None, horizon: float | None
) -> Iterator[float]:
    """How long each job waits: first those of the backlog, then those that come, `jobs` of them or until `horizon`."""
    draw = drawing(load.run_seconds, load.run_variation, chance)
    free_at = [0.0] * max(0, slots - load.held) + [draw() * chance.random() for _ in range(min(slots, load.held))]
    heapq.heapify(free_at)
    for _ in range(load.backlog):
        start = heapq.heappop(free_at)
        heapq.heappush(free_at, start + draw())
        yield start
    now, count = 0.0, 0
    while (jobs is None or count < jobs) and load.arrivals_per_second:
        now += chance.expovariate(load.arrivals_per_second)
        if horizon is not None and now > horizon:
            return
        start = max(now, heapq.heappop(free_at))
        heapq.heappush(free_at, start + draw())
        count += 1
        yield start - now


def percentile(values: list[float]) -> float:
    """What SHARE of them stay under."""
    return sorted(values)[min(len(values) - 1, int(SHARE * len(values)))]


def steady(slots: int, busy: float, variation: float, jobs: int = STEADY_JOBS) -> Case:
    """The long run."""
    load = QueueLoad(arrivals_per_second=busy * slots, run_seconds=1.0, run_variation=variation)
    jobs *= 10 if busy > 0.9 else 1  # a busy queue forgets slowly: with fewer, the simulation itself would be 10% off
    found = list(waits(load, slots, random.Random(f"{slots} {busy} {variation}"), jobs, None))[jobs // 10 :]
    said = forecast(load, slots)
    return Case(
        "steady",
        slots,
        busy,
        variation,
        0,
        said.average_wait,
        sum(found) / len(found),
        said.p95_wait or 0.0,
        percentile(found),
    )


def ahead(slots: int, busy: float, variation: float, backlog: int, repeats: int = REPEATS) -> Case:
    """The next hour, with jobs of ten seconds, behind a backlog."""
    load = QueueLoad(
        arrivals_per_second=busy * slots / 10, run_seconds=10.0, run_variation=variation, backlog=backlog, held=slots
    )
    found = [wait for n in range(repeats) for wait in waits(load, slots, random.Random(n), None, HORIZON)]
    return Case(
        "ahead",
        slots,
        busy,
        variation,
        backlog,
        None,
        None,
        forecast(load, slots).p95_wait_ahead or 0.0,
        percentile(found),
    )


def targets(jobs: int = STEADY_JOBS) -> list[tuple[float, float, float, int, float]]:
    """For offered loads, variations and patience: the desired slots, and the share of jobs that then start in time."""
    rows: list[tuple[float, float, float, int, float]] = []
    for offered in (0.5, 3.0, 20.0):
        for variation in (0.0, 1.0, 4.0):
            for patience in (0.1, 2.0):
                load = QueueLoad(arrivals_per_second=offered, run_seconds=1.0, run_variation=variation)
                slots = desired_slots(load, patience)
                found = list(waits(load, slots, random.Random(2), jobs, None))[jobs // 10 :]
                rows.append((offered, variation, patience, slots, sum(wait <= patience for wait in found) / len(found)))
    return rows


def tables(cases: list[Case], reached: list[tuple[float, float, float, int, float]]) -> str:
    """The comparison in Markdown."""
    lines = [
        "In the long run; times in multiples of the average run time, p95 is what 95 of 100 jobs wait less than:",
        "",
        "| slots | busy | variation | average, model | simulated | p95, model | simulated | error of p95 |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for each in cases:
        if each.name == "steady":
            lines.append(
                f"| {each.slots} | {each.busy:.0%} | {each.variation:g} | {each.predicted_average:.3f} "
                f"| {each.measured_average:.3f} | {each.predicted:.2f} | {each.measured:.2f} | {error(each)} |"
            )
    lines += [
        "",
        "In the next hour, behind a backlog, with jobs of ten seconds:",
        "",
        "| slots | busy | variation | backlog | p95, model | simulated | error |",
        "|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for each in cases:
        if each.name == "ahead":
            lines.append(
                f"| {each.slots} | {each.busy:.0%} | {each.variation:g} | {each.backlog:,} "
                f"| {each.predicted:.0f} s | {each.measured:.0f} s | {error(each)} |"
            )
    lines += [
        "",
        "How many jobs start in time with as many slots as `desired_slots` asks for, so that 95 of 100 do; patience in",
        "multiples of the run time:",
        "",
        "| busy slots | variation | patience | desired slots | in time |",
        "|--:|--:|--:|--:|--:|",
    ]
    lines += [f"| {a:g} | {b:g} | {c:g} | {d} | {e:.1%} |" for a, b, c, d, e in reached]
    return "\n".join(lines)


def error(each: Case) -> str:
    """By how much the forecast is too high or too low, where there is anything to speak of."""
    if max(each.predicted, each.measured) < 0.05:
        return "-"
    return f"{each.predicted / each.measured - 1:+.0%}" if each.measured else "-"


def main() -> None:
    """Write the comparison."""
    cases = [steady(*each) for each in STEADY] + [ahead(*each) for each in BACKLOGS]
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(
        picture([Point(each.predicted, each.measured, each.variation, each.name == "ahead") for each in cases])
    )
    text = tables(cases, targets())
    page = DOCS / "capacity.md"
    before, _, rest = page.read_text().partition(BEGIN)
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
