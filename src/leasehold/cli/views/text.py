"""Small parts that views are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from leasehold.observability.logs import escape_controls
from leasehold.observability.wording import show_instant, show_span

__all__ = ["ago", "ahead", "fields_table", "json_text", "plain", "show_instant", "state_text", "table"]

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
