from __future__ import annotations

import json

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_jobs import empty, enqueue_many

ARRAYS: list[tuple[list[object], int, str]] = [
    ([{}], 1, ""),
    ([None], 1, ""),
    ([{}, {}], 1, "job 1: "),
    ([{}] * 500, 500, "job 500: "),
]


async def test_a_job_that_is_not_alone_is_named_by_its_place(database: Database, subtests: pytest.Subtests) -> None:
    for jobs, place, name in ARRAYS:
        await empty(database)
        with subtests.test(jobs=jobs, place=place, name=name):
            assert await database.call_value("name_job", json.dumps(jobs), place) == name


CASES: list[tuple[object, str]] = [
    ("echo", "a job must be a JSON object"),
    ({"kind": ""}, "kind must have 1 to 200 bytes, not 0"),
    ({"kind": "a", "quue": "x"}, "unknown field 'quue'"),
    ({"kind": "a", "blockers": 7}, "blockers must be an array, not number"),
    ({"kind": "a", "blockers": [404]}, "blocker 404 is no job"),
    ({"kind": "a", "unique": {"window": "x"}}, "unique.window must be a number of seconds, not string"),
]


async def test_every_complaint_about_a_single_job_is_only_the_complaint(database: Database) -> None:
    for job, complaint in CASES:
        with pytest.raises(BadInput) as refused:
            await enqueue_many(database, [job])  # type: ignore[list-item]
        assert str(refused.value).startswith(complaint)
        with pytest.raises(BadInput, match=r"^job 2: "):
            await enqueue_many(database, [{"kind": "fine"}, job])  # type: ignore[list-item]
