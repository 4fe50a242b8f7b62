from __future__ import annotations

from leasehold.database import Database


async def test_bounds_double_from_a_millisecond_to_37_hours(database: Database) -> None:
    bounds = await database.call_value("bucket_bounds")
    assert bounds == [0.001 * 2**k for k in range(28)]
