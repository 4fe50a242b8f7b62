from __future__ import annotations

import json

from leasehold.database import Database


async def key_of(database: Database, **job: object) -> object:
    return await database.call_value("name_unique_key", json.dumps({"kind": "a", "unique": {}, **job}))


async def test_a_key_of_its_own_is_taken_as_it_is(database: Database) -> None:
    assert await key_of(database, unique={"key": "by:x"}) == "key:by:x"


async def test_a_job_without_unique_has_none(database: Database) -> None:
    assert await key_of(database, unique=None) is None
    assert await database.call_value("name_unique_key", '{"kind": "a"}') is None


ONE_AND_OTHER: list[tuple[dict[str, object], dict[str, object]]] = [
    ({}, {"args": {}}),
    ({}, {"args": None, "queue": "q", "priority": 3, "metadata": {"m": 1}, "key": "k", "delay": 5}),
    ({"args": {"a": 1, "b": 2}}, {"args": {"b": 2, "a": 1}}),
    ({"unique": {"by": ["kind", "args"]}}, {"unique": {"window": 5, "on_conflict": "extend"}}),
    ({"unique": {"by": ["args", "kind", "args"]}}, {}),
    ({"unique": {"by": ["queue"]}}, {"unique": {"by": ["queue"]}, "queue": "default"}),
    ({"unique": {"by": ["args.x"]}, "args": {"x": 1}}, {"unique": {"by": ["args.x"]}, "args": {"x": 1, "y": 2}}),
]


async def test_what_by_does_not_name_makes_no_difference(database: Database) -> None:
    for one, other in ONE_AND_OTHER:
        assert await key_of(database, **one) == await key_of(database, **other)


CASES: list[tuple[dict[str, object], dict[str, object]]] = [
    ({}, {"kind": "b"}),
    ({}, {"args": {"a": 1}}),
    ({"args": {"a": 1}}, {"args": {"a": "1"}}),
    ({"args": {"a": None}}, {"args": {}}),
    ({"unique": {"by": ["kind"]}}, {"unique": {"by": ["kind", "queue"]}}),
    ({"unique": {"by": ["queue"]}}, {"unique": {"by": ["queue"]}, "queue": "other"}),
    ({"unique": {"by": ["key"]}, "key": "k"}, {"unique": {"by": ["key_group"]}, "key_group": "k"}),
    ({"unique": {"by": ["args.x"]}, "args": {"x": 1}}, {"unique": {"by": ["args.y"]}, "args": {"y": 1}}),
    ({"unique": {"by": ["args"]}, "args": {"x": 1}}, {"unique": {"by": ["args.x"]}, "args": {"x": 1}}),
]


async def test_what_by_names_makes_one(database: Database) -> None:
    for one, other in CASES:
        assert await key_of(database, **one) != await key_of(database, **other)
