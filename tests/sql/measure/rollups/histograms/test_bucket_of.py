from __future__ import annotations

from leasehold.database import Database


async def test_every_bound_belongs_to_the_bucket_below_it(database: Database) -> None:
    rows = await database.fetch(
        "select leasehold.bucket_of(b.bound), leasehold.bucket_of(b.bound * 1.001) "
        "from unnest(leasehold.bucket_bounds()) with ordinality b(bound, position) order by position"
    )
    assert [tuple(row) for row in rows] == [(k, k + 1) for k in range(28)]


async def test_what_is_out_of_range_falls_into_the_first_or_the_last(database: Database) -> None:
    cases: list[tuple[float | None, int | None]] = [(0.0, 0), (-1.0, 0), (1e-300, 0), (1e300, 28), (None, None)]
    for seconds, bucket in cases:
        assert await database.call_value("bucket_of", seconds) == bucket
