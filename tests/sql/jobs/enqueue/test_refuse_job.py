from __future__ import annotations

import json

from leasehold.database import Database

FIELDS = (
    "kind",
    "args",
    "queue",
    "key",
    "max_attempts",
    "idempotency_key",
    "metadata",
    "delay",
    "run_at",
    "key_group",
    "timeout",
    "deadline",
    "traceparent",
    "unknown",
)
TIMES = ("run_at", "deadline")


async def refuse(database: Database, **fields: object) -> str | None:
    """The complaint about a job of kind `echo` with these fields."""
    values = {"kind": "echo", **fields}
    arguments = [values.get(field) for field in FIELDS]
    casts = [f"${n}::text::timestamptz" if field in TIMES else f"${n}" for n, field in enumerate(FIELDS, 1)]
    answer = (await database.fetch(f"select leasehold.refuse_job({', '.join(casts)})", *arguments))[0][0]
    assert answer is None or isinstance(answer, str)
    return answer


GOOD: list[dict[str, object]] = [
    {},
    {"kind": "k" * 200},
    {"queue": "é" * 100},
    {"key": "k" * 500, "idempotency_key": "k" * 500},
    {"key": "line\nbreak\ttab"},
    {"max_attempts": 1},
    {"max_attempts": 1_000_000},
    {"delay": 0.0},
    {"delay": 3155760000.0},
    {"run_at": "0001-01-01Z"},
    {"run_at": "8999-12-31Z"},
    {"key_group": "g" * 500},
    {"key_group": "**"},
    {"timeout": 0.001},
    {"timeout": 3155760000.0},
    {"deadline": "0001-01-01Z"},
    {"traceparent": "t" * 200},
    {"traceparent": ""},
]

BAD: list[tuple[dict[str, object], str]] = [
    ({"kind": None}, "kind is missing"),
    ({"kind": ""}, "kind must have 1 to 200 bytes, not 0"),
    ({"kind": "k" * 201}, "kind must have 1 to 200 bytes, not 201"),
    ({"kind": "é" * 101}, "kind must have 1 to 200 bytes, not 202"),
    ({"kind": "a\nb"}, "kind has a control character: 'a\nb'"),
    ({"queue": ""}, "queue must have 1 to 200 bytes, not 0"),
    ({"queue": "q" * 201}, "queue must have 1 to 200 bytes, not 201"),
    ({"queue": "q\x1b[31m"}, "queue has a control character: 'q\x1b[31m'"),
    ({"queue": "q\x7f"}, "queue has a control character: 'q\x7f'"),
    ({"queue": "a,b"}, "queue has a comma, which stands between queues in settings: 'a,b'"),
    ({"queue": " a"}, "queue has a space at an end, which settings drop: ' a'"),
    ({"queue": "a "}, "queue has a space at an end, which settings drop: 'a '"),
    ({"queue": " "}, "queue has a space at an end, which settings drop: ' '"),
    ({"key": ""}, "key must have 1 to 500 bytes, not 0"),
    ({"key": "k" * 501}, "key must have 1 to 500 bytes, not 501"),
    ({"idempotency_key": ""}, "idempotency_key must have 1 to 500 bytes, not 0"),
    ({"idempotency_key": "k" * 501}, "idempotency_key must have 1 to 500 bytes, not 501"),
    ({"args": "[]"}, "args must be a JSON object, not array"),
    ({"args": "3"}, "args must be a JSON object, not number"),
    ({"metadata": "true"}, "metadata must be a JSON object, not boolean"),
    ({"metadata": json.dumps({"x": "y" * 65536})}, "metadata takes 65553 bytes; 65536 is the most"),
    ({"max_attempts": 0}, "max_attempts must be from 1 to 1000000, not 0"),
    ({"max_attempts": 1_000_001}, "max_attempts must be from 1 to 1000000, not 1000001"),
    ({"delay": 1.0, "run_at": "2026-01-01Z"}, "give delay or run_at, not both"),
    ({"delay": -0.001}, "delay must be from 0 seconds to 100 years, not -0.001"),
    ({"delay": 3155760001.0}, "delay must be from 0 seconds to 100 years, not 3155760001"),
    ({"delay": float("nan")}, "delay must be from 0 seconds to 100 years, not NaN"),
    ({"delay": float("inf")}, "delay must be from 0 seconds to 100 years, not Infinity"),
    ({"run_at": "infinity"}, "run_at must be a time after the year 0 and before the year 9000, not infinity"),
    ({"run_at": "-infinity"}, "run_at must be a time after the year 0 and before the year 9000, not -infinity"),
    (
        {"run_at": "9000-01-01Z"},
        "run_at must be a time after the year 0 and before the year 9000, not 9000-01-01 00:00:00+00",
    ),
    (
        {"deadline": "9999-12-31 23:59:59-14"},
        "deadline must be a time after the year 0 and before the year 9000, not 10000-01-01 13:59:59+00",
    ),
    ({"key_group": ""}, "key_group must have 1 to 500 bytes, not 0"),
    ({"key_group": "é" * 251}, "key_group must have 1 to 500 bytes, not 502"),
    ({"key_group": "*"}, "key_group must not be *, which means each group where limits are set"),
    ({"timeout": 0.0}, "timeout must be more than 0 seconds and at most 100 years, not 0"),
    ({"timeout": -1.0}, "timeout must be more than 0 seconds and at most 100 years, not -1"),
    ({"timeout": 3155760001.0}, "timeout must be more than 0 seconds and at most 100 years, not 3155760001"),
    ({"timeout": float("nan")}, "timeout must be more than 0 seconds and at most 100 years, not NaN"),
    ({"timeout": float("inf")}, "timeout must be more than 0 seconds and at most 100 years, not Infinity"),
    ({"deadline": "infinity"}, "deadline must be a time after the year 0 and before the year 9000, not infinity"),
    ({"traceparent": "t" * 201}, "traceparent must have at most 200 bytes, not 201"),
    (
        {"unknown": "quue"},
        "unknown field 'quue'; known are kind, args, queue, priority, run_at, delay, key, key_group, max_attempts, "
        "timeout, deadline, idempotency_key, fingerprint, unique, blockers, traceparent, metadata, check_args",
    ),
]


async def test_these_are_accepted(database: Database) -> None:
    for fields in GOOD:
        assert await refuse(database, **fields) is None


async def test_these_are_refused_with_field_and_value(database: Database) -> None:
    for fields, complaint in BAD:
        assert await refuse(database, **fields) == complaint
