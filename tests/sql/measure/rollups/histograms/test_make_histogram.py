from __future__ import annotations

from leasehold.database import Database


async def test_counts_of_the_same_bucket_are_added_and_those_of_none_left_out(database: Database) -> None:
    histogram = await database.call_value("make_histogram", [3, None, 28, 3], [5, 7, 1, 2])
    assert histogram == [0] * 3 + [7] + [0] * 24 + [1]


async def test_nothing_is_a_histogram_too(database: Database) -> None:
    assert await database.call_value("make_histogram", [], []) == [0] * 29
    assert await database.call_value("make_histogram", None, None) == [0] * 29
