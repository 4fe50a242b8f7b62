from __future__ import annotations

from leasehold.database import Database


async def test_the_number_of_a_queue_is_always_the_same_and_not_that_of_a_key(database: Database) -> None:
    numbers = await database.fetch(
        "select count(distinct leasehold.queue_lock('q' || n)), min(leasehold.queue_lock('é')) = max(leasehold.queue_lock('é')),"
        " bool_or(leasehold.queue_lock('q' || n) = leasehold.key_lock('q' || n)) from generate_series(1, 10000) n"
    )
    assert tuple(numbers[0]) == (10_000, True, False)
