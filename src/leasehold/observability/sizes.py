"""Sizes as people read them."""

from __future__ import annotations


def show_bytes(count: float) -> str:
    """A number of bytes as text: `512 B`, `300 MiB`, `2.0 GiB`."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
