from __future__ import annotations

import pytest

from leasehold.database import Database


async def delays(database: Database, attempt: int, *policy: float | None) -> list[float]:
    values = ", ".join(f"${n}::float8" for n in range(2, 2 + len(policy)))
    call = f"leasehold.retry_delay($1{', ' if policy else ''}{values})"
    rows = await database.fetch(f"select {call} from generate_series(1, 2000)", attempt, *policy)
    return sorted(row[0] for row in rows)


CASES: list[tuple[int, tuple[float | None, ...], float]] = [
    (1, (), 10),
    (2, (), 20),
    (5, (), 160),
    (6, (), 300),
    (1000, (), 300),
    (0, (), 10),
    (3, (1.0, 10.0, 50.0), 50),
    (3, (1.0, 3.0, 1e9), 9),
    (3, (2.0, 0.5, 100.0), 2),
    (4, (None, None, None), 80),
    (2_000_000_000, (1.0, 1e308, 60.0), 60),
    (3, (0.0, 2.0, 60.0), 0),
]


STEPS = [(1, 5.0), (2, 10.0), (3, 15.0), (12, 60.0), (13, 60.0), (2_000_000_000, 60.0), (0, 5.0)]


async def test_with_a_step_waits_grow_by_it_up_to_the_cap(database: Database) -> None:
    for attempt, wait in STEPS:
        waits = await delays(database, attempt, None, None, 60.0, 5.0)
        assert (waits[0], waits[-1]) == (wait, wait)


async def test_waits_are_spread_evenly_between_nothing_and_the_longest(database: Database) -> None:
    for attempt, policy, longest in CASES:
        waits = await delays(database, attempt, *policy)
        assert waits[0] >= 0
        assert waits[-1] <= longest
        assert waits[1000] == pytest.approx(longest / 2, rel=0.12)
        assert waits[200] == pytest.approx(longest / 10, rel=0.4)
