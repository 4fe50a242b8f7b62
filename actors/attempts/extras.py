"""What a claimed row says of its job beyond what plain jobs have: its place in a chain, its trace, its limits."""

from __future__ import annotations

from typing import Any

import msgspec

from leasehold.database import Row

_decoder = msgspec.json.Decoder(dict[str, Any])


def extras_of(row: Row) -> dict[str, Any]:
    """The extras of a claimed row; empty for a plain job."""
    encoded: str | None = row.get("extras")
    return {} if encoded is None else _decoder.decode(encoded)
