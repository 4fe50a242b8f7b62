"""Instants, durations and tables as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from leasehold.errors import BadInput
from leasehold.observability.logs import escape_controls
from leasehold.observability.wording import show_count, show_instant, show_span

UNITS = {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|)")


def parse_duration(text: str) -> timedelta:
    """`90`, `90s`, `1h30m`, `500ms`, `2d` as a span. Raises BadInput."""
    parts = _PART.findall(text)
    is_whole = "".join(number + unit for number, unit in parts) == text
    if not parts or not is_whole or (len(parts) > 1 and any(not unit for _, unit in parts)):
        raise BadInput(f"{text!r} is no duration; write for example 30s, 5m, 1h30m or 2d")
    try:
        return timedelta(seconds=sum(float(number) * UNITS[unit] for number, unit in parts))
    except OverflowError as error:
        raise BadInput(f"the duration {text!r} is too long") from error


def parse_instant(text: str) -> datetime:
    """An ISO 8601 instant with its offset from UTC. Raises BadInput."""
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadInput(f"{text!r} is no instant; write for example 2030-01-31T09:30:00Z") from error
    if instant.tzinfo is None:
        raise BadInput(f"{text!r} does not say where; end it with Z or an offset such as +02:00")
    return instant


STATE_STYLES = {
    "pending": "yellow",
    "scheduled": "blue",
    "waiting": "magenta",
    "open": "cyan",
    "blocked": "magenta",
    "claimed": "cyan",
    "running": "cyan",
    "completed": "green",
    "failed": "bold red",
    "cancelled": "dim",
    "ready": "green",
    "paused": "yellow",
    "draining": "yellow",
    "received": "cyan",
    "done": "green",
    "expired": "dim",
    "stale": "bold red",
    "stopped": "dim",
}


def plain(text: str, style: str = "") -> Text:
    """`text` as it is, unprintable characters escaped, no markup."""
    return Text(escape_controls(text), style)


def state_text(state: str) -> Text:
    """A state in its colour."""
    return Text(state, STATE_STYLES.get(state, ""))


def count_text(jobs: int, state: str, *, is_partial: bool = False) -> Text:
    """A number of jobs in the colour of their state, a dot for none; `is_partial`: there may be more than were counted."""
    return Text(show_count(jobs, is_partial=is_partial), STATE_STYLES[state]) if jobs else Text("·", "dim")


def counts_age(counted_at: Sequence[datetime | None], now: datetime) -> list[Text]:
    """How old counts are that were not made for this answer; nothing where all were."""
    counted = [each for each in counted_at if each is not None]
    return [Text(f"large tables were counted {ago(min(counted), now)}", "dim")] if counted else []


def shorten(text: str, width: int) -> str:
    """`text` in `width` cells at most; where that is too few, it ends with an ellipsis: behind a whole word, or within one
    where whole words would leave more than half of the width empty."""
    if cell_len(text) <= width:
        return text
    if width < 2:
        return "…"[:width]
    told = chop_cells(text, width - 1)[0]
    words = told.rpartition(" ")[0]
    return f"{words} …" if cell_len(words) >= width / 2 else f"{told}…"


@dataclass(frozen=True)
class OneLine:
    """A cell of one line, as long as there is room for; in a block of lines it is wrapped."""

    text: str
    style: str = ""

    def __str__(self) -> str:
        return self.text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        yield plain(shorten(self.text, options.max_width), self.style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        width = cell_len(self.text)
        return Measurement(min(width, LEAST_CUT), width)


GAP = 2  # between columns
LEAST_CUT = 24  # a word of the column that gives way may be folded to this
NOTHING = {"", "0", "-", "·"}


def table(
    heads: Sequence[str], rows: Sequence[Sequence[RenderableType]], right: Sequence[str] = (), cut: str | None = None
) -> RenderableType:
    """A borderless table; columns named in `right` are aligned to the right, the one named `cut` gives way first.

    No word of the others is ever cut: where they do not fit the terminal, columns with nothing in them are left out, and where
    that is not enough, each row is a block of lines `name  value`.
    """
    return _Grid(heads, rows, right, cut)


class _Grid(NamedTuple):
    heads: Sequence[str]
    rows: Sequence[Sequence[RenderableType]]
    right: Sequence[str]
    cut: str | None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        every = range(len(self.heads))
        filled = [place for place in every if any(str(row[place]) not in NOTHING for row in self.rows)]
        for places in (every, filled):
            if widths := self._widths(places, console, options):
                yield self._as_table(places, widths)
                return
        for number, row in enumerate(self.rows):
            if number:
                yield Text()
            yield fields_table({self.heads[place]: row[place] for place in filled if str(row[place])})

    def _widths(self, places: Sequence[int], console: Console, options: ConsoleOptions) -> list[int]:
        """Of these columns, with every word whole; nothing where that is too wide. The widest ones give way."""
        least, most = list[int](), list[int]()
        for place in places:
            head = self.heads[place]
            sizes = [Measurement.get(console, options, cell) for cell in (head, *(row[place] for row in self.rows))]
            most.append(max(size.maximum for size in sizes))
            narrowest = max(size.minimum for size in sizes)
            least.append(min(narrowest, LEAST_CUT) if head == self.cut else narrowest)
        spare = options.max_width - sum(least) - GAP * (len(least) - 1)
        if spare < 0:
            return []
        widths = list(least)
        wants = [high - low for low, high in zip(least, most, strict=True)]
        for number in sorted(
            range(len(least)), key=lambda number: (self.heads[places[number]] == self.cut, wants[number])
        ):
            more = min(wants[number], spare)
            widths[number] += more
            spare -= more
        return widths

    def _as_table(self, places: Sequence[int], widths: Sequence[int]) -> Table:
        shown = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
        for place, width in zip(places, widths, strict=True):
            head = self.heads[place]
            shown.add_column(head, justify="right" if head in self.right else "left", overflow="fold", width=width)
        for row in self.rows:
            shown.add_row(*(row[place] for place in places))
        return shown


def fields_table(fields: Mapping[str, object]) -> Table:
    """Two columns: name and value; values that are None are left out."""
    shown = Table.grid(Column(), Column(overflow="fold"), padding=(0, 2))
    for name, value in fields.items():
        if value is not None:
            shown.add_row(Text(name.replace("_", " "), "bold"), value if isinstance(value, Text) else _value(value))
    return shown


def json_text(value: object, indent: int = 2) -> str:
    """`value` as indented JSON; with an indent of 0 as one line, that may be wrapped between its parts."""
    return msgspec.json.format(msgspec.json.encode(value), indent=indent).decode()


def clock_time(instant: datetime) -> str:
    """`2030-01-31 09:30:00.250`: two words that a narrow column of times in UTC may stack."""
    return show_instant(instant).removesuffix(" UTC")


def ago(instant: datetime, now: datetime) -> str:
    """`3m 20s ago`; an instant ahead of this machine's clock counts as now."""
    return f"{show_span(max((now - instant).total_seconds(), 0))} ago"


def ahead(instant: datetime, now: datetime) -> str:
    """`in 3m 20s`, or `due 3m 20s ago`."""
    seconds = (instant - now).total_seconds()
    return f"in {show_span(seconds)}" if seconds > 0 else f"due {ago(instant, now)}"


def _value(value: object) -> Text:
    if isinstance(value, datetime):
        return Text(show_instant(value))
    if isinstance(value, dict | list | tuple):
        return plain(msgspec.json.encode(value).decode())
    return plain(str(value))
