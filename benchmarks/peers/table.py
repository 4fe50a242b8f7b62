"""From measured rounds to the table and the picture: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from benchmarks.peers.contestants import OURS

Rounds = Mapping[str, Mapping[str, Sequence[float]]]
"""Contestant → figure → its value in each round."""

FIGURES = {
    "drain 1": ("drain, one process, jobs/s", True),
    "drain 2": ("drain, two processes, jobs/s", True),
    "drain cpu": ("… CPU of Postgres, µs/job", False),
    "single": ("enqueue one by one, jobs/s", True),
    "single postgres": ("… CPU of Postgres, µs/job", False),
    "single client": ("… CPU of the client, µs/job", False),
    "ten": ("enqueue, ten tasks on one client, jobs/s", True),
    "ten postgres": ("… CPU of Postgres, µs/job", False),
    "bulk": ("enqueue, 1,000 a call, jobs/s", True),
    "pickup p50": ("pick-up, p50, ms", False),
    "pickup p99": ("pick-up, p99, ms", False),
    "idle statements": ("idle worker, transactions/s", False),
    "idle cpu": ("… CPU of the process, %", False),
}
"""Key → its line in the table, and whether more is better."""


def medians(rounds: Rounds) -> dict[str, dict[str, float]]:
    """One value for each figure."""
    return {name: {key: median(values) for key, values in each.items()} for name, each in rounds.items()}


def ratio(ours: float, theirs: float, *, more_is_better: bool) -> float | None:
    """How many times as good as theirs ours is; None where nothing can be said."""
    if not ours or not theirs:
        return None
    return ours / theirs if more_is_better else theirs / ours


def markdown(rounds: Rounds) -> str:
    """The table: a column for each contestant; beside each value of another, how many times as good ours is."""
    values = medians(rounds)
    names = list(values)
    lines = ["| | " + " | ".join(names) + " |", "|" + "---|" * (len(names) + 1)]
    for key, (label, more) in FIGURES.items():
        if not any(key in each for each in values.values()):
            continue
        cells = [_cell(values, name, key, more_is_better=more) for name in names]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(values: Mapping[str, Mapping[str, float]], name: str, key: str, *, more_is_better: bool) -> str:
    value, ours = values[name].get(key), values.get(OURS, {}).get(key)
    if value is None:
        return "–"
    text = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    times = ratio(ours, value, more_is_better=more_is_better) if ours is not None and name != OURS else None
    return text if times is None else f"{text} ({times:.2g} ×)"


def picture(rounds: Rounds, keys: Sequence[str] = ("drain 1", "drain 2", "single", "ten", "bulk")) -> str:
    """An SVG: for each figure a bar per contestant, as a share of the best."""
    values = medians(rounds)
    height, y = 16, 10
    rows: list[str] = []
    for key in (key for key in keys if any(key in each for each in values.values())):
        rows.append(f'<text x="10" y="{y + 12}" font-weight="bold">{FIGURES[key][0]}</text>')
        y += height + 4
        best = max(each.get(key, 0.0) for each in values.values()) or 1.0
        for name, each in values.items():
            if key in each:
                width = round(400 * each[key] / best, 1)
                colour = "#2563eb" if name == OURS else "#94a3b8"
                rows.append(f'<text x="20" y="{y + 12}">{name}</text>')
                rows.append(f'<rect x="150" y="{y}" width="{width}" height="{height - 3}" fill="{colour}"/>')
                rows.append(f'<text x="{158 + width}" y="{y + 11}">{each[key]:,.0f}</text>')
                y += height
        y += 12
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {y}" font-family="sans-serif" font-size="12">'
    background = f'<rect width="640" height="{y}" fill="white"/>'
    return "\n".join([head, background, *rows, "</svg>", ""])
