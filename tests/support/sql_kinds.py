"""Short ways to declare kinds."""

from __future__ import annotations

import json
from typing import Any

from leasehold.database import Caller

ORDER = {
    "type": "object",
    "properties": {"order_id": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["order_id"],
    "additionalProperties": False,
}


async def declare(
    caller: Caller, *kinds: dict[str, Any], app: str = "shop:app", version: str = "1", newest: bool = False
) -> dict[str, str]:
    """Declare kinds; returns what became of each."""
    rows = await caller.call("declare_kinds", json.dumps(kinds), app, version, newest)
    return {row["kind"]: row["outcome"] for row in rows}


async def catalogued(caller: Caller, kind: str) -> dict[str, Any]:
    """A kind as list_kinds shows it, with its JSON decoded."""
    [row] = await caller.call("list_kinds", kind)
    return {
        name: json.loads(value)
        if name in ("retry", "unique", "args_schema", "output_schema", "conflicts") and value is not None
        else value
        for name, value in row.items()
    }
