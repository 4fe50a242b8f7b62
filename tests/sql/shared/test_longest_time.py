from __future__ import annotations

from leasehold.database import Database


async def test_it_is_a_hundred_years_of_365_days_and_a_quarter(database: Database) -> None:
    rows = await database.fetch("select make_interval(secs => leasehold.longest_time()) = interval '876600 hours'")
    assert rows[0][0]
