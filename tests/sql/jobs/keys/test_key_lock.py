from __future__ import annotations

from leasehold.database import Database


async def test_the_number_of_a_key_is_always_the_same_and_keys_rarely_share_one(database: Database) -> None:
    numbers = await database.fetch(
        "select count(distinct leasehold.key_lock('key ' || n)), min(leasehold.key_lock('é')), max(leasehold.key_lock('é')),"
        " leasehold.key_lock(null) from generate_series(1, 10000) n"
    )
    assert tuple(numbers[0]) == (10_000, numbers[0][1], numbers[0][1], None)
