from __future__ import annotations

from leasehold.database import Database


async def test_histograms_are_added_bucket_by_bucket(database: Database) -> None:
    one, two = list(range(29)), [2] * 29
    assert await database.call_value("add_histograms", [one, two, two]) == [n + 4 for n in one]
    assert await database.call_value("add_histograms", [one]) == one
    assert await database.call_value("add_histograms", None) == [0] * 29
