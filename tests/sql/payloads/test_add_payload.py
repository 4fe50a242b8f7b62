from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, LeaseLost
from tests.support.sql_payloads import SHA, add


async def test_the_row_says_what_was_given(database: Database) -> None:
    payload_id = await add(database, key="shop 7", metadata='{"products": 3}', job_id=9)
    [row] = await database.fetch("select * from leasehold.payloads")
    assert (row["id"], row["key"], row["job_id"], row["sha256"]) == (payload_id, "shop 7", 9, SHA)
    assert (row["size"], row["compressed_size"], row["metadata"]) == (10, 7, '{"products": 3}')
    assert row["expired_at"] is None
    assert row["is_claim"] is False


async def test_a_value_out_of_range_is_refused(database: Database) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"kind": ""}, "kind must have"),
        ({"kind": "x" * 256}, "kind must have"),
        ({"key": ""}, "key must have"),
        ({"location": ""}, "location must have"),
        ({"media_type": ""}, "media_type must have"),
        ({"metadata": "[1]"}, r"metadata must be a JSON object, not \[1\]"),
    ]
    for given, complaint in cases:
        with pytest.raises(BadInput, match=complaint):
            await add(database, **given)


async def test_content_that_took_more_than_a_day_is_refused_since_it_may_be_gone(database: Database) -> None:
    [named] = await database.call("name_payload")
    with pytest.raises(BadInput, match="took longer than 1 day"):
        await add(database, created_at=named["created_at"] - timedelta(days=1, seconds=1))


async def test_only_the_holder_of_a_job_saves_in_its_name(database: Database) -> None:
    with pytest.raises(LeaseLost):
        await add(database, job_id=4, attempt=1, incarnation="5f0c6a3e-8a1e-4d7b-9a53-0f0c5f3d9b10")
    assert await database.fetch("select 1 from leasehold.payloads") == []
