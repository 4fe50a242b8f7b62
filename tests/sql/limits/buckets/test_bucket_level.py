from __future__ import annotations

from leasehold.database import Database

LEVEL = """
select leasehold.bucket_level($1, t.noon + $2::float8 * interval '1 s', 2.0, 10, t.noon)
  from (select timestamptz '2026-03-01 12:00Z' as noon) t
"""


async def test_a_bucket_fills_steadily_to_the_brim(database: Database) -> None:
    cases: list[tuple[float, float, float]] = [
        (0.0, 0.0, 0.0),
        (0.0, -1.0, 2.0),
        (3.5, -0.25, 4.0),
        (9.0, -60.0, 10.0),
        (-0.5, -1.0, 1.5),
        (4.0, 5.0, 4.0),
    ]
    for tokens, filled_at, level in cases:
        rows = await database.fetch(LEVEL, tokens, filled_at)
        assert rows[0][0] == level


async def test_no_bucket_is_a_full_one(database: Database) -> None:
    rows = await database.fetch("select leasehold.bucket_level(null, null, 2.0, 10, now())")
    assert rows[0][0] == 10
