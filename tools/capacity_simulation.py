"""How far the forecast is from what happens: simulates queues job by job, and writes the comparison into docs/capacity.md.

    python tools/capacity_simulation.py            # the table and docs/images/capacity-error.svg, a minute or two
    python tools/capacity_simulation.py --check    # a few cases, nothing written

The simulation is the plain definition: jobs come at random, the slot that is free first takes the oldest one. Run times are drawn
from a gamma distribution (a two-branch hyperexponential one above a variation of 1) with the given mean and variation.
"""

from __future__ import annotations

import argparse
import heapq
import random
import sys
from collections.abc import Callable, Iterator
from math import log, sqrt
from pathlib import Path

import msgspec

from leasehold.forecast import SHARE, Load, desired_slots, forecast

DOCS = Path(__file__).parent.parent / "docs"
PICTURE = DOCS / "images" / "capacity-error.svg"
BEGIN, END = "<!-- simulation: begin -->", "<!-- simulation: end -->"
HORIZON = 3600.0
STEADY_JOBS = 400_000
REPEATS = 20

STEADY = [
    (slots, busy, variation)
    for slots in (1, 3, 10, 50)
    for busy in (0.5, 0.8, 0.95)
    for variation in (0.0, 1.0, 4.0)
]  # fmt: skip
BACKLOGS = [(3, 0.5, 1.0, 300), (10, 0.8, 1.0, 1000), (10, 0.8, 4.0, 200), (50, 0.9, 0.0, 5000), (10, 1.2, 1.0, 0), (10, 1.2, 1.0, 500)]


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


def waits(load: Load, slots: int, chance: random.Random, jobs: int | None, horizon: float | None) -> Iterator[float]:
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
    load = Load(arrivals_per_second=busy * slots, run_seconds=1.0, run_variation=variation)
    jobs *= 10 if busy > 0.9 else 1  # a busy queue forgets slowly: with fewer, the simulation itself would be 10% off
    found = list(waits(load, slots, random.Random(f"{slots} {busy} {variation}"), jobs, None))[jobs // 10 :]
    said = forecast(load, slots)
    return Case("steady", slots, busy, variation, 0, said.average_wait, sum(found) / len(found), said.p95_wait or 0.0, percentile(found))


def ahead(slots: int, busy: float, variation: float, backlog: int, repeats: int = REPEATS) -> Case:
    """The next hour, with jobs of ten seconds, behind a backlog."""
    load = Load(arrivals_per_second=busy * slots / 10, run_seconds=10.0, run_variation=variation, backlog=backlog, held=slots)
    found = [wait for n in range(repeats) for wait in waits(load, slots, random.Random(n), None, HORIZON)]
    return Case("ahead", slots, busy, variation, backlog, None, None, forecast(load, slots).p95_wait_ahead or 0.0, percentile(found))


def targets(jobs: int = STEADY_JOBS) -> list[tuple[float, float, float, int, float]]:
    """For offered loads, variations and patience: the desired slots, and the share of jobs that then start in time."""
    rows: list[tuple[float, float, float, int, float]] = []
    for offered in (0.5, 3.0, 20.0):
        for variation in (0.0, 1.0, 4.0):
            for patience in (0.1, 2.0):
                load = Load(arrivals_per_second=offered, run_seconds=1.0, run_variation=variation)
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
                f"| {each.slots} | {each.busy:.0%} | {each.variation:g} | {each.predicted_average:.3f} | {each.measured_average:.3f} "
                f"| {each.predicted:.2f} | {each.measured:.2f} | {error(each)} |"
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
                f"| {each.slots} | {each.busy:.0%} | {each.variation:g} | {each.backlog:,} | {each.predicted:.0f} s | {each.measured:.0f} s | {error(each)} |"
            )
    lines += [
        "",
        "How many jobs start in time with as many slots as `desired_slots` asks for so that 95 of 100 do (patience in multiples of the run time):",
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


def picture(cases: list[Case]) -> str:
    """Model over simulation, both in logarithmic scale: what lies on the diagonal is right."""
    size, edge = 420, 50
    points = [each for each in cases if each.predicted > 0.05 and each.measured > 0.05]
    low, high = 0.05, 3000.0

    def at(value: float) -> float:
        return edge + (size - 2 * edge) * log(value / low) / log(high / low)

    colours = {0.0: "#1b7f5c", 1.0: "#2b5fa8", 4.0: "#b3441e"}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" font-family="sans-serif" font-size="11">',
        "<title>p95 wait: model over simulation</title>",
        f'<rect width="{size}" height="{size}" fill="#ffffff"/>',
    ]
    for value in (0.1, 1, 10, 100, 1000):
        parts += [
            f'<line x1="{at(value):.1f}" y1="{edge}" x2="{at(value):.1f}" y2="{size - edge}" stroke="#e3e3e3"/>',
            f'<line x1="{edge}" y1="{size - at(value):.1f}" x2="{size - edge}" y2="{size - at(value):.1f}" stroke="#e3e3e3"/>',
            f'<text x="{at(value):.1f}" y="{size - edge + 15}" text-anchor="middle">{value:g}</text>',
            f'<text x="{edge - 6}" y="{size - at(value) + 4:.1f}" text-anchor="end">{value:g}</text>',
        ]
    for factor, dash in ((1.0, ""), (1.25, ' stroke-dasharray="3 3"'), (0.8, ' stroke-dasharray="3 3"')):
        first, last = max(low, low / factor), min(high, high / factor)
        parts.append(
            f'<line x1="{at(first):.1f}" y1="{size - at(first * factor):.1f}" x2="{at(last):.1f}" y2="{size - at(last * factor):.1f}" stroke="#999999"{dash}/>'
        )
    for each in points:
        x, y, colour = at(each.measured), size - at(each.predicted), colours[each.variation]
        if each.name == "steady":
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity="0.75"/>')
        else:
            parts.append(f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="none" stroke="{colour}" stroke-width="2"/>')
    parts += [
        f'<text x="{size / 2}" y="{size - 14}" text-anchor="middle">p95 wait, simulated (run times, or seconds behind a backlog)</text>',
        f'<text x="16" y="{size / 2}" text-anchor="middle" transform="rotate(-90 16 {size / 2})">p95 wait, model</text>',
    ]
    legend = [("variation 0", colours[0.0], 4), ("variation 1", colours[1.0], 4), ("variation 4", colours[4.0], 4)]
    for n, (text, colour, radius) in enumerate(legend):
        parts.append(f'<circle cx="{edge + 12}" cy="{edge + 14 + 16 * n}" r="{radius}" fill="{colour}"/>')
        parts.append(f'<text x="{edge + 22}" y="{edge + 18 + 16 * n}">{text}</text>')
    parts += [
        f'<rect x="{edge + 8}" y="{edge + 58}" width="8" height="8" fill="none" stroke="#444444" stroke-width="2"/>',
        f'<text x="{edge + 22}" y="{edge + 66}">behind a backlog</text>',
        f'<text x="{edge + 8}" y="{edge + 84}" fill="#777777">dashed: 25% off</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Write the comparison, or with --check look whether it is still about so."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="a few cases, nothing written")
    if parser.parse_args().check:
        for each in (steady(3, 0.8, 1.0, 50_000), steady(10, 0.8, 4.0, 50_000), ahead(10, 0.8, 1.0, 1000, 3)):
            sys.stdout.write(f"{each}: {error(each)}\n")
        return
    cases = [steady(*each) for each in STEADY] + [ahead(*each) for each in BACKLOGS]
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(cases))
    page = DOCS / "capacity.md"
    before, _, rest = page.read_text().partition(BEGIN)
    page.write_text(f"{before}{BEGIN}\n{tables(cases, targets())}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
