"""Spans, instants and sizes as people read them, in tables, findings and lines of the log."""

from __future__ import annotations

from datetime import UTC, datetime


def show_span(seconds: float) -> str:
    """A span in two units at most: `250ms`, `1.5s`, `12s`, `3m 20s`, `2h 5m`, `4d 1h`; negative spans count as 0."""
    if seconds < 1:
        return f"{max(seconds, 0) * 1000:.0f}ms"
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = int(seconds)
    for unit, size, next_unit, next_size in (("d", 86_400, "h", 3_600), ("h", 3_600, "m", 60), ("m", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // next_size
            return f"{whole // size}{unit}" + (f" {rest}{next_unit}" if rest else "")
    return f"{whole}s"


def show_instant(instant: datetime) -> str:
    """`2030-01-31 09:30:00.250 UTC`."""
    return instant.astimezone(UTC).isoformat(sep=" ", timespec="milliseconds").replace("+00:00", " UTC")


def show_count(count: int, *, is_partial: bool = False) -> str:
    """`1,000`; `is_partial`: there may be more than were counted, `1,000 or more`."""
    return f"{count:,}{' or more' if is_partial else ''}"


def show_bytes(count: float) -> str:
    """A number of bytes as text: `512 B`, `300 MiB`, `2.0 GiB`."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
