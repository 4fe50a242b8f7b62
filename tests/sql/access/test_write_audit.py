from __future__ import annotations

import json

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_jobs import empty


async def test_what_somebody_is_about_to_do_is_written_down_without_an_end(database: Database) -> None:
    detail = json.dumps({"parameters": {"id": 7}})
    audit_id = await database.call_value(
        "write_audit", "ops", 3, "POST /api/chains/{id}/cancel", detail, "192.0.2.1", "request-1"
    )
    [row] = await database.fetch("select * from leasehold.audit_log")
    assert (row["id"], row["actor"], row["token_id"], row["action"]) == (
        audit_id,
        "ops",
        3,
        "POST /api/chains/{id}/cancel",
    )
    assert (json.loads(row["detail"]), row["address"], row["request_id"]) == (
        {"parameters": {"id": 7}},
        "192.0.2.1",
        "request-1",
    )
    assert row["status"] is None


async def test_without_a_name_it_is_the_database_user(database: Database, subtests: pytest.Subtests) -> None:
    for actor in [None, ""]:
        await empty(database)
        with subtests.test(actor=actor):
            await database.call("write_audit", actor, None, "act")
            [row] = await database.fetch("select actor = session_user as is_mine from leasehold.audit_log")
            assert row["is_mine"]


async def test_a_detail_that_is_too_large_is_told_by_its_size(database: Database) -> None:
    await database.call("write_audit", "ops", None, "act", json.dumps({"ids": "x" * 20_000}))
    [row] = await database.fetch("select detail from leasehold.audit_log")
    assert list(json.loads(row["detail"])) == ["too_large"]


async def test_an_act_has_a_name(database: Database, subtests: pytest.Subtests) -> None:
    for action in [None, ""]:
        with subtests.test(action=action), pytest.raises(BadInput, match="must be named"):
            await database.call("write_audit", "ops", None, action)
