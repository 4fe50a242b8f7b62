from __future__ import annotations

import json

from leasehold.database import Database
from tests.support.sql_kinds import ORDER, declare


async def complaint(database: Database, args: object, *, has_key: bool = False) -> str | None:
    [row] = await database.fetch(
        "select leasehold.refuse_args(k, $1, $2, false) from leasehold.kinds k where k.kind = 'charge'",
        json.dumps(args),
        has_key,
    )
    return row[0]


async def test_the_sentence_names_the_kind_its_version_and_the_value(database: Database) -> None:
    await declare(database, {"kind": "charge", "args_schema": ORDER}, version="7")
    assert await complaint(database, {"order_id": 1}) is None
    assert await complaint(database, {"order_id": "x"}) == (
        "args do not fit charge as version 7 takes them: args.order_id must be integer, not string"
    )
    assert await complaint(database, None) == "args do not fit charge as version 7 takes them: args.order_id is missing"


async def test_an_object_is_no_key_unless_the_job_has_its_own(database: Database) -> None:
    await declare(database, {"kind": "charge", "key": "args.order"}, version="")
    assert await complaint(database, {"order": {}}) == (
        "args do not fit charge: args.order is object, and cannot be the key of a job"
    )
    assert await complaint(database, {"order": {}}, has_key=True) is None
    assert await complaint(database, {}) is None


async def test_claim_checks_and_kinds_that_opt_out_are_not_looked_into(database: Database) -> None:
    await declare(database, {"kind": "charge", "args_schema": ORDER})
    assert await complaint(database, {"$payload": {"id": 1, "size": 5, "sha256": "x", "summary": None}}) is None
    await declare(database, {"kind": "charge", "args_schema": ORDER, "checks_args": False})
    assert await complaint(database, {"any": 1}) is None
