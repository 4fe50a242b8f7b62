"""Instants, durations and tables as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from leasehold.errors import BadInput
from leasehold.observability.logs import escape_controls
from leasehold.observability.wording import show_instant, show_span

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


def table(
    heads: Sequence[str], rows: Sequence[Sequence[RenderableType]], right: Sequence[str] = (), cut: str | None = None
) -> Table:
    """A borderless table; columns named in `right` are aligned to the right, the one named `cut` gives way first."""
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in heads:
        is_firm = cut in heads and head != cut
        shown.add_column(head, justify="right" if head in right else "left", overflow="fold", no_wrap=is_firm)
    for row in rows:
        shown.add_row(*row)
    return shown


def fields_table(fields: Mapping[str, object]) -> Table:
    """Two columns: name and value; values that are None are left out."""
    shown = Table.grid(padding=(0, 2))
    for name, value in fields.items():
        if value is not None:
            shown.add_row(Text(name.replace("_", " "), "bold"), value if isinstance(value, Text) else _value(value))
    return shown


def json_text(value: object) -> str:
    """`value` as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


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
