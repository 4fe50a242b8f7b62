from __future__ import annotations

import pytest

from leasehold.database import Database


def histogram(**counts: int) -> list[int]:
    return [counts.get(f"b{n}", 0) for n in range(29)]


async def test_a_share_of_the_times_stays_under_it(database: Database) -> None:
    cases: list[tuple[list[int], float, float | None]] = [
        (histogram(), 0.5, None),
        (histogram(b0=10), 0.5, 0.0005),
        (histogram(b10=10), 1.0, 1.024),
        (histogram(b10=10), 0.5, 0.768),
        (histogram(b1=90, b10=10), 0.95, 0.768),
        (histogram(b1=90, b10=10), 0.9, 0.002),
        (histogram(b28=3), 0.5, 134217.728),
    ]
    for counts, share, seconds in cases:
        found = await database.call_value("measure_percentile", counts, share)
        assert found == (None if seconds is None else pytest.approx(seconds))
