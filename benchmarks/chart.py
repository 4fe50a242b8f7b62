"""Pictures of benchmarks: panels of lines, one above the other, each from 0 up, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

WIDTH, HEIGHT, EDGE, LEGEND = 600, 160, 56, 18
COLOURS = ("#1b7f5c", "#b3441e", "#2b5fa8", "#8a5cb0", "#a07800", "#4a4a4a")


class Panel(NamedTuple):
    """A quantity, and its lines by name: as many values each as the picture has labels."""

    title: str
    lines: Mapping[str, Sequence[float]]


def draw(title: str, panels: Sequence[Panel], labels: Sequence[str]) -> str:
    """An SVG. `labels` stand under the values of every panel."""
    tops: list[int] = []
    height = 0
    for panel in panels:
        tops.append(height)
        height += HEIGHT + LEGEND * (1 + (len(panel.lines) - 1) // 2) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">',
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for panel, top in zip(panels, tops, strict=True):
        parts += [*_axes(panel, labels, top), *_lines(panel, labels, top), *_legend(panel, top + HEIGHT)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _highest(panel: Panel) -> float:
    return 1.15 * max(max(values) for values in panel.lines.values()) or 1.0


def _x(number: int, labels: Sequence[str]) -> float:
    return EDGE + (WIDTH - 2 * EDGE) * number / max(1, len(labels) - 1)


def _y(value: float, highest: float, top: int) -> float:
    return top + HEIGHT - 30 - (HEIGHT - 60) * value / highest


def _axes(panel: Panel, labels: Sequence[str], top: int) -> Iterator[str]:
    yield f'<text x="{EDGE}" y="{top + 20}">{panel.title}</text>'
    highest = _highest(panel)
    for share in (0.0, 0.5, 1.0):
        y = _y(share * highest, highest, top)
        yield f'<line x1="{EDGE}" y1="{y:.1f}" x2="{WIDTH - EDGE}" y2="{y:.1f}" stroke="#e3e3e3"/>'
        yield f'<text x="{EDGE - 6}" y="{y + 4:.1f}" text-anchor="end">{share * highest:,.3g}</text>'
    for number, label in enumerate(labels):
        yield f'<text x="{_x(number, labels):.1f}" y="{top + HEIGHT - 12}" text-anchor="middle">{label}</text>'


def _lines(panel: Panel, labels: Sequence[str], top: int) -> Iterator[str]:
    highest = _highest(panel)
    for values, colour in zip(panel.lines.values(), COLOURS, strict=False):
        points = " ".join(f"{_x(n, labels):.1f},{_y(value, highest, top):.1f}" for n, value in enumerate(values))
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'


def _legend(panel: Panel, top: int) -> Iterator[str]:
    for number, (name, colour) in enumerate(zip(panel.lines, COLOURS, strict=False)):
        left, y = EDGE + (WIDTH - 2 * EDGE) // 2 * (number % 2), top + LEGEND * (number // 2)
        yield f'<rect x="{left}" y="{y}" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{left + 15}" y="{y + 9}">{name}</text>'
