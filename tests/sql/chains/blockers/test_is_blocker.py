from __future__ import annotations

from leasehold.database import Database

GOOD = [
    "1", "9223372036854775807", "1.0", "1e3", '{"position": 1}', '{"position": 4}', '{"position": 2.0}', '{"chain": 1}',
    '{"chain": 9223372036854775807, "until": "ended"}', '{"position": 4, "until": "ended"}',
    '{"position": 1, "until": "completed"}',
]  # fmt: skip
BAD = [
    "0", "-1", "1.5", "9223372036854775808", "1e30", "null", "true", '"1"', "[]", "[1]", "{}",
    '{"position": 0}', '{"position": 5}', '{"position": -1}', '{"position": 1.5}', '{"position": 1e30}',
    '{"position": null}', '{"position": "1"}', '{"position": 1, "slot": 1}', '{"id": 1}',
    '{"chain": 0}', '{"chain": 1.5}', '{"chain": "1"}', '{"chain": null}', '{"chain": 9223372036854775808}',
    '{"chain": 1, "position": 1}', '{"until": "ended"}', '{"position": 5, "until": "ended"}', '{"position": 1, "until": "failed"}',
    '{"position": 1, "until": null}',
]  # fmt: skip


async def is_blocker(database: Database, item: str, place: int) -> object:
    return (await database.fetch("select leasehold.is_blocker($1::jsonb, $2::bigint)", item, place))[0][0]


async def test_ids_and_places_of_earlier_jobs_can_stand_in_blockers(database: Database) -> None:
    for item in GOOD:
        assert await is_blocker(database, item, 5) is True


async def test_nothing_else_can(database: Database) -> None:
    for item in BAD:
        assert await is_blocker(database, item, 5) is False


async def test_the_first_job_has_no_earlier_one(database: Database) -> None:
    assert await is_blocker(database, '{"position": 1}', 1) is False
