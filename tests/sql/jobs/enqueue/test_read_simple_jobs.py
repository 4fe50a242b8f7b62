"""What counts as a simple job; test_simple_jobs.py compares what comes of them."""

from __future__ import annotations

import json

from leasehold.database import Database

CASES: list[tuple[dict[str, object], bool]] = [
    ({}, True),
    ({"run_at": "2024-02-29T23:59:59.5+01:00"}, False),  # 29 February goes the long way, which knows leap years
    ({"run_at": "2024-12-31T23:59:59Z", "timeout": 30, "key": "k", "idempotency_key": "i"}, True),
    ({"run_at": "2026-02-30T10:00:00Z"}, False),
    ({"run_at": "2026-13-01T00:00:00Z"}, False),
    ({"delay": 1, "run_at": "2026-01-01T00:00:00Z"}, False),
    ({"priority": "5"}, False),
    ({"unique": {}}, False),
]


async def test_simple_is_what_needs_no_conversion(database: Database) -> None:
    for fields, is_simple in CASES:
        jobs = json.dumps([{"kind": "echo"}, {"kind": "echo"} | fields])
        rows = await database.fetch("select place from leasehold.read_simple_jobs($1::jsonb, clock_timestamp())", jobs)
        assert [row["place"] for row in rows] == ([1, 2] if is_simple else [1])
