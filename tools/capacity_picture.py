"""The picture of docs/capacity.md: the model over the simulation, in logarithmic scale; what lies on the diagonal is right."""

from __future__ import annotations

from math import log
from typing import NamedTuple

SIZE, EDGE = 420, 50
LOW, HIGH = 0.05, 3000.0
COLOURS = {0.0: "#1b7f5c", 1.0: "#2b5fa8", 4.0: "#b3441e"}


class Point(NamedTuple):
    """One comparison."""

    predicted: float
    measured: float
    variation: float
    is_behind_a_backlog: bool


def picture(points: list[Point]) -> str:
    """An SVG. What is too small to speak of is left out."""
    shown = [each for each in points if each.predicted > LOW and each.measured > LOW]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" font-family="sans-serif" font-size="11">',
        "<title>p95 wait: model over simulation</title>",
        f'<rect width="{SIZE}" height="{SIZE}" fill="#ffffff"/>',
        *_grid(),
        *(_line(factor, dash) for factor, dash in ((1.0, ""), (1.25, "3 3"), (0.8, "3 3"))),
        *(_mark(each) for each in shown),
        *_legend(),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(value: float) -> float:
    return EDGE + (SIZE - 2 * EDGE) * log(value / LOW) / log(HIGH / LOW)


def _y(value: float) -> float:
    return SIZE - _x(value)


def _grid() -> list[str]:
    parts: list[str] = []
    for value in (0.1, 1, 10, 100, 1000):
        x, y, end = _x(value), _y(value), SIZE - EDGE
        parts += [
            f'<line x1="{x:.1f}" y1="{EDGE}" x2="{x:.1f}" y2="{end}" stroke="#e3e3e3"/>',
            f'<line x1="{EDGE}" y1="{y:.1f}" x2="{end}" y2="{y:.1f}" stroke="#e3e3e3"/>',
            f'<text x="{x:.1f}" y="{end + 15}" text-anchor="middle">{value:g}</text>',
            f'<text x="{EDGE - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>',
        ]
    return parts


def _line(factor: float, dash: str) -> str:
    first, last = max(LOW, LOW / factor), min(HIGH, HIGH / factor)
    ends = f'x1="{_x(first):.1f}" y1="{_y(first * factor):.1f}" x2="{_x(last):.1f}" y2="{_y(last * factor):.1f}"'
    return f'<line {ends} stroke="#999999" stroke-dasharray="{dash or "none"}"/>'


def _mark(point: Point) -> str:
    x, y, colour = _x(point.measured), _y(point.predicted), COLOURS[point.variation]
    if point.is_behind_a_backlog:
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="none" stroke="{colour}" stroke-width="2"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity="0.75"/>'


def _legend() -> list[str]:
    left, middle = EDGE + 8, SIZE / 2
    parts = [
        f'<text x="{middle}" y="{SIZE - 14}" text-anchor="middle">'
        "p95 wait, simulated (run times, or seconds behind a backlog)</text>",
        f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">p95 wait, model</text>',
    ]
    for n, (variation, colour) in enumerate(COLOURS.items()):
        parts += [
            f'<circle cx="{left + 4}" cy="{EDGE + 14 + 16 * n}" r="4" fill="{colour}"/>',
            f'<text x="{left + 14}" y="{EDGE + 18 + 16 * n}">variation {variation:g}</text>',
        ]
    return [
        *parts,
        f'<rect x="{left}" y="{EDGE + 58}" width="8" height="8" fill="none" stroke="#444444" stroke-width="2"/>',
        f'<text x="{left + 14}" y="{EDGE + 66}">behind a backlog</text>',
        f'<text x="{left}" y="{EDGE + 84}" fill="#777777">dashed: 25% off</text>',
    ]
