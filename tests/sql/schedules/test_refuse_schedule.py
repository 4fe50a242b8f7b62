from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_schedules import create, definition, schedule

LONG = "x" * 501


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"name": None}, "name is missing"),
    ({"name": ""}, "name must have 1 to 200 bytes, not 0"),
    ({"name": "a\nb"}, "name has a control character"),
    ({"name": "a\x7f"}, "name has a control character"),
    ({"name": "34"}, "name must not be all digits, which is an id, .* not '34'"),
    ({"name": "."}, "name must not be all digits, .* not '.'"),
    ({"name": ".."}, "name must not be all digits, .* not '..'"),
    ({"name": "shop/crawl"}, "name must not be all digits, .* not 'shop/crawl'"),
    ({"kind": None}, "kind is missing"),
    ({"kind": 7}, "kind must be a string, not number"),
    ({"colour": "red"}, "unknown field 'colour'; known are "),
    ({"every": 60, "cron": "* * * * *"}, "give exactly one of every, cron and at, not 2"),
    ({"every": None}, "give exactly one of every, cron and at, not 0"),
    ({"every": 0.5}, "every must be from 1 second to 100 years, not 0.5"),
    ({"every": -5}, "every must be from 1 second"),
    ({"cron": "* * * *"}, "cron must have five fields"),
    ({"cron": "* * * * * * *"}, "cron must have five fields"),
    ({"cron": "'; drop table jobs"}, "cron must have five fields"),
    ({"cron": "1," * 300 + "1 * * * *"}, "cron must have five fields"),
    ({"args": [1]}, "args must be an object, not array"),
    ({"args": "x"}, "args must be an object, not string"),
    ({"priority": 1.5}, "priority must be a whole number, not 1.5"),
    ({"priority": 3_000_000_000}, "priority must fit an integer"),
    ({"enabled": "yes"}, "enabled must be a boolean, not string"),
    ({"queue": ""}, "queue must have 1 to 200 bytes"),
    ({"key": LONG}, "key must have 1 to 500 bytes, not 501"),
    ({"key_group": "*"}, "key_group must not be \\*"),
    ({"max_attempts": 0}, "max_attempts must be from 1"),
    ({"timeout": 0}, "timeout must be more than 0"),
    ({"query_timeout": 0}, "query_timeout must be more than 0 and at most 3600"),
    ({"query_timeout": 4000}, "query_timeout must be more than 0 and at most 3600"),
    ({"query_rows": 0}, "query_rows must be from 1 to 100000"),
    ({"stagger": -1}, "stagger must be from 0 seconds"),
    ({"batches": 0}, "batches must be from 1"),
    ({"grace": -1}, "grace must be from 0 seconds"),
    ({"catch_up_limit": 0}, "catch_up_limit must be from 1"),
    ({"missed": "panic"}, "missed must be skip, catch_up or coalesce, not 'panic'"),
    ({"overlap": "queue"}, "overlap must be allow or skip, not 'queue'"),
    ({"zone": "Mars/Base"}, "there is no time zone 'Mars/Base'"),
    ({"starts_at": "2030-01-02", "ends_at": "2030-01-02"}, "starts_at must be before ends_at"),
    ({"at": "infinity", "every": None}, "must lie between the years 1970 and 9000"),
    ({"starts_at": "0044-03-15 BC"}, "must lie between the years 1970 and 9000"),
    ({"starts_at": "tomorrow-ish"}, "tomorrow-ish"),
    ({"query": ""}, "query must have 1 to 100000 bytes"),
]


async def test_what_is_no_schedule_is_refused(database: Database) -> None:
    for fields, complaint in REFUSED:
        with pytest.raises(BadInput, match=complaint):
            await create(database, **{"name": "s", **fields})  # pyright: ignore[reportArgumentType]
        assert await database.call("list_schedules") == []


async def test_most_names_are_fine(database: Database) -> None:
    for name in ["34th", "at 12", "...", "a.b", "-1", "٣", "été"]:
        assert (await create(database, name))["name"] == name


async def test_a_name_from_before_they_were_refused_may_stay(database: Database) -> None:
    await create(database, "s")
    await database.execute("update leasehold.schedules set name = 'shop/crawl'")
    await database.call("disable_schedule", "shop/crawl")
    assert not (await schedule(database, "shop/crawl"))["enabled"]


async def test_cron_is_looked_at_from_afar(database: Database) -> None:
    for text in [
        "@daily",
        "@HOURLY",
        "*/5 9-17 * * mon-fri",
        "30 */5 9-17 L * *",
        " 0  0 1,15 * *  ",
        "0 0 * * 1#2",
    ]:
        assert await database.call_value("refuse_schedule", definition(cron=text, queue="q", args={})) is None
