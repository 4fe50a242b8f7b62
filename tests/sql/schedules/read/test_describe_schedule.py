from __future__ import annotations

import json

from leasehold.database import Database
from tests.support.sql_schedules import create, definition

ASK = "select leasehold.describe_schedule(s) from leasehold.schedules s where name = $1"


async def test_what_it_says_makes_the_same_schedule_again(database: Database) -> None:
    await create(database, cron="@daily", args={"a": 1}, ends_at="2031-01-01")
    described = json.loads((await database.fetch(ASK, "s"))[0][0])
    await database.call("create_schedule", json.dumps({**described, "name": "t"}))
    again = json.loads((await database.fetch(ASK, "t"))[0][0])
    assert {**again, "name": "s"} == described


async def test_it_has_the_fields_that_a_definition_has(database: Database) -> None:
    await create(database)
    described = json.loads((await database.fetch(ASK, "s"))[0][0])
    complete = json.loads(str(await database.call_value("complete_schedule", definition())))
    assert described == complete
