from __future__ import annotations

import json

import pytest

from leasehold.database import Database
from tests.support.sql_jobs import empty

ARGS = {"shop": 7, "none": None}
FINE: list[dict[str, object]] = [
    {},
    {"by": ["kind", "queue", "args"]},
    {"by": ["args.shop"]},
    {"by": ["args.none"]},
    {"by": ["key", "key_group"]},
    {"key": "x" * 500},
    {"window": 0.5, "scope": "chain", "exclude": [1, 2], "on_conflict": "overwrite"},
    {"states": ["pending", "scheduled", "waiting", "blocked", "completed"]},
]
STATES = "pending, scheduled, waiting, blocked, claimed, running, completed, failed, cancelled"
REFUSED: list[tuple[object, str]] = [
    (True, "unique must be a JSON object, not boolean"),
    ([], "unique must be a JSON object, not array"),
    ({"bye": 1}, "unknown field 'bye' of unique; known are by, key,"),
    ({"by": ["kind"], "key": "k"}, "unique takes by or key, not both"),
    ({"key": 5}, "unique.key must be a string, not number"),
    ({"key": None}, "unique.key must be a string, not null"),
    ({"key": ""}, "unique.key must have 1 to 500 bytes, not 0"),
    ({"key": "ж" * 251}, "unique.key must have 1 to 500 bytes, not 502"),
    ({"by": "kind"}, 'unique.by must be a list such as ["kind", "args.shop_id"], not "kind"'),
    ({"by": []}, 'unique.by must be a list such as ["kind", "args.shop_id"], not []'),
    ({"by": ["kind", 5]}, "unique.by takes kind, queue, key, key_group, args and args.FIELD, not 5"),
    ({"by": ["priority"]}, 'unique.by takes kind, queue, key, key_group, args and args.FIELD, not "priority"'),
    ({"by": ["args."]}, 'unique.by takes kind, queue, key, key_group, args and args.FIELD, not "args."'),
    ({"by": ["args.shopp"]}, "unique.by names args.shopp, which the job does not have"),
    ({"window": "1h"}, "unique.window must be a number of seconds, not string"),
    ({"window": 0}, "unique.window must be more than 0 seconds and at most 100 years, not 0"),
    ({"window": 1e12}, "unique.window must be more than 0 seconds and at most 100 years, not 1000000000000"),
    ({"states": "pending"}, "unique.states must be a list, not string"),
    ({"states": ["pendign"]}, f'unique.states must be of {STATES}, not "pendign"'),
    ({"states": [5]}, f"unique.states must be of {STATES}, not 5"),
    (
        {"states": ["pending", "running"]},
        "unique.states must have pending, scheduled, waiting and blocked, between which a job moves by itself; "
        "there is no scheduled",
    ),
    ({"scope": "queue"}, 'unique.scope must be job or chain, not "queue"'),
    ({"exclude": 5}, "unique.exclude must be a list of chain ids, not number"),
    ({"exclude": ["5"]}, 'unique.exclude must be a list of chain ids, not of "5"'),
    ({"exclude": [1.5]}, "unique.exclude must be a list of chain ids, not of 1.5"),
    (
        {"on_conflict": "ignore"},
        'unique.on_conflict must be existing, reject, replace, extend or overwrite, not "ignore"',
    ),
]


async def complaint(database: Database, unique: object, **fields: object) -> object:
    job = {"kind": "a", "args": ARGS, "unique": unique, **fields}
    return await database.call_value("refuse_unique", json.dumps(job))


async def test_what_is_fine_is_not_complained_about(database: Database) -> None:
    for unique in FINE:
        assert await complaint(database, unique, key="k", key_group="g") is None


async def test_a_complaint_names_the_field_and_the_value(database: Database) -> None:
    for unique, expected in REFUSED:
        told = await complaint(database, unique)
        assert isinstance(told, str)
        assert told.startswith(expected)


async def test_a_job_without_the_field_that_by_names_is_refused(database: Database, subtests: pytest.Subtests) -> None:
    """Else all jobs without it would count as one."""
    for field in ["key", "key_group"]:
        await empty(database)
        with subtests.test(field=field):
            told = await complaint(database, {"by": ["kind", field]})
            assert told == f"unique.by names {field}, which the job does not have"


async def test_a_job_without_unique_is_fine(database: Database) -> None:
    assert await complaint(database, None) is None
    assert await database.call_value("refuse_unique", '{"kind": "a"}') is None
