from __future__ import annotations

from decimal import Decimal
from typing import Any

import hypothesis.strategies as some
import msgspec
import pytest
import trio
from hypothesis import HealthCheck, given, settings

from leasehold.database import Database, open_database
from leasehold.errors import InvalidArgs
from leasehold.jobs.arguments import derived_key


async def test_text_numbers_and_truth_become_keys_and_nothing_else_does(database: Database) -> None:
    args = '{"a": "x", "n": 7, "f": 1.50, "t": true, "z": null, "l": [1], "o": {"deep": 3}}'
    asked = ["a", "n", "f", "t", "z", "l", "o", "o.deep", "o.no", "gone", "a.no"]
    found = [await database.call_value("derive_key", args, f"args.{place}") for place in asked]
    assert found == ["x", "7", "1.50", "true", None, None, None, "3", None, None, None]


scalars = some.one_of(
    some.none(), some.booleans(), some.integers(), some.floats(allow_nan=False, allow_infinity=False),
    some.text(some.characters(exclude_categories=["Cs"], exclude_characters="\0")),
)  # fmt: skip


def test_python_and_sql_derive_the_same_key(database_url: str) -> None:
    @settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
    @given(some.lists(scalars, min_size=30, max_size=30))
    def check(values: list[Any]) -> None:
        documents = [msgspec.json.encode({"a": {"b": value}}) for value in values]
        keys = trio.run(derive, database_url, documents)
        assert [derived_key(document, "args.a.b", "key") for document in documents] == keys

    check()


async def derive(dsn: str, documents: list[bytes]) -> list[str | None]:
    async with open_database(dsn, pool_size=1) as database:
        rows = await database.fetch(
            "select leasehold.derive_key(d.doc::jsonb, 'args.a.b') from unnest($1::text[]) with ordinality d(doc, n) order by n",
            [each.decode() for each in documents],
        )
        return [row[0] for row in rows]


def test_digits_are_those_of_the_json() -> None:
    assert derived_key(b'{"a": 1.10}', "args.a", "key") == "1.10"
    assert derived_key(b'{"a": 1e3}', "args.a", "key") == f"{Decimal('1e3'):f}" == "1000"
    for nested in ("[]", "{}"):
        with pytest.raises(InvalidArgs, match=r"the key of charge comes from args\.a, which is"):
            derived_key(f'{{"a": {nested}}}'.encode(), "args.a", "key of charge")
