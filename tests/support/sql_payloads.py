"""Payload rows, made by the SQL functions."""

from __future__ import annotations

from typing import Any

from leasehold.database import Caller

SHA = bytes(range(32))


async def add(caller: Caller, **given: Any) -> int:
    """Add a row without any content; returns its id."""
    [named] = await caller.call("name_payload")
    payload_id = given.pop("payload_id", named["payload_id"])
    values: dict[str, Any] = {
        "payload_id": payload_id,
        "created_at": named["created_at"],
        "kind": "catalogue",
        "key": None,
        "job_id": None,
        "size": 10,
        "compressed_size": 7,
        "sha256": SHA,
        "codec": "gzip",
        "media_type": "application/json",
        "location": f"2026/01/01/{payload_id}.json.gz",
        **given,
    }
    [row] = await caller.call("add_payload", **values)
    return int(row["id"])
