from __future__ import annotations

from leasehold.database import Database

GOOD = [
    None,
    "null",
    "{}",
    '{"jobs": []}',
    '{"jobs": null, "next": null}',
    '{"next": {"kind": "a"}}',
    '{"next": {"kind": "a", "idempotency_key": null, "unique": null}}',
    '{"jobs": [{"kind": "a"}], "next": {"kind": "b"}}',
]

BAD = [
    ("[]", "a continuation must be a JSON object, not array"),
    ('"a"', "a continuation must be a JSON object, not string"),
    ('{"then": {}}', "a continuation has next and jobs, not then"),
    ('{"zoo": 1, "next": {}, "and": 1}', "a continuation has next and jobs, not and"),
    ('{"jobs": {}}', "jobs must be an array, not object"),
    ('{"jobs": "a"}', "jobs must be an array, not string"),
    ('{"next": []}', "next must be a job, not array"),
    ('{"next": "a"}', "next must be a job, not string"),
    (
        '{"next": {"kind": "a", "idempotency_key": "k"}}',
        "next continues the chain and takes neither idempotency_key nor unique",
    ),
    ('{"next": {"kind": "a", "unique": {}}}', "next continues the chain and takes neither idempotency_key nor unique"),
]


async def test_these_are_accepted(database: Database) -> None:
    for continuation in GOOD:
        assert await database.call_value("refuse_continuation", continuation) is None


async def test_these_are_refused(database: Database) -> None:
    for continuation, complaint in BAD:
        assert await database.call_value("refuse_continuation", continuation) == complaint
