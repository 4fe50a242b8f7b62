from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sources.making import define, define_as, jobs_of
from tests.support.sources.seeds import CRAWL_JOBS, WORKER_TASKS
from tests.support.sql_kinds import declare


@pytest.fixture
async def crawl(database: Database) -> Database:
    await database.execute(WORKER_TASKS + CRAWL_JOBS)
    await define(database, "crawl_jobs")
    return database


async def test_each_shop_gets_one_job_and_a_second_call_makes_none(crawl: Database) -> None:
    made = {row["kind"]: row["made"] for row in await crawl.call("refill_jobs")}
    assert made == {"product_resync": 10, "store_discovery": 1, "analytics_refresh": 1}
    assert await crawl.call("refill_jobs") == []


async def test_a_filter_chooses_the_shops(crawl: Database) -> None:
    [row] = await crawl.call("refill_jobs", None, '{"state_code": "AZ"}', True)
    assert (row["kind"], row["made"]) == ("product_resync", 5)
    with pytest.raises(BadInput, match="unknown filter 'town' of crawl_jobs; known are state_code"):
        await crawl.call("refill_jobs", None, '{"town": "Mesa"}', True)


STORE = {"type": "object", "properties": {"store": {"type": "integer"}}, "required": ["store"]}


async def define_with_odd_rows(database: Database) -> None:
    """A refill whose rows 3 and 7 have no store, which its kind wants."""
    await declare(database, {"kind": "crawl", "args_schema": STORE})
    columns = {
        "kind": "'crawl'",
        "key": "s.id::text",
        "args": "case when s.id in (3, 7) then '{}' else jsonb_build_object('store', s.id) end",
    }
    refill = [{"table": "public.dispensaries", "columns": columns}, {"columns": {"kind": "'analytics_refresh'"}}]
    await define_as(database, "odd", {"refill": refill})


async def test_rows_whose_job_would_be_refused_are_named_and_hold_nobody_up(crawl: Database) -> None:
    await define_with_odd_rows(crawl)
    told = [dict(row) for row in await crawl.call("refill_jobs", "odd", None, False, True, True)]
    assert await jobs_of(crawl) == []
    done = [dict(row) for row in await crawl.call("refill_jobs", "odd")]
    assert told == done
    assert [(row["kind"], row["made"], row["refused"]) for row in done] == [
        ("crawl", 8, 2),
        ("analytics_refresh", 1, 0),
    ]
    assert done[0]["complaint"].startswith("key '3': args do not fit crawl")
    made = [(each["kind"], each["key"]) for each in await jobs_of(crawl)]
    assert made == [
        *(("crawl", str(number)) for number in range(1, 11) if number not in (3, 7)),
        ("analytics_refresh", None),
    ]


async def test_rows_that_fit_later_get_their_jobs_with_the_next_call(crawl: Database) -> None:
    await define_with_odd_rows(crawl)
    await crawl.call("refill_jobs", "odd")
    await declare(crawl, {"kind": "crawl", "args_schema": {"type": "object"}}, version="2", newest=True)
    assert [(row["made"], row["refused"]) for row in await crawl.call("refill_jobs", "odd")] == [(2, 0)]
    assert await crawl.call("refill_jobs", "odd") == []


async def test_a_job_that_no_queue_takes_is_refused_like_args_that_do_not_fit(crawl: Database) -> None:
    columns = {"kind": "'crawl'", "queue": "case s.id when 2 then 'a,b' else 'a' end", "key": "s.id::text"}
    await define_as(crawl, "odd", {"refill": [{"table": "public.dispensaries", "columns": columns}]})
    [row] = await crawl.call("refill_jobs", "odd")
    assert (row["made"], row["refused"]) == (9, 1)
    assert row["complaint"].startswith("key '2': queue has a comma")


async def test_a_row_whose_values_cannot_be_read_holds_nobody_up(crawl: Database) -> None:
    columns = {"kind": "'crawl'", "priority": "case s.id when 2 then 1.5 else 1 end", "key": "s.id::text"}
    await define_as(crawl, "odd", {"refill": [{"table": "public.dispensaries", "columns": columns}]})
    [row] = await crawl.call("refill_jobs", "odd")
    assert (row["made"], row["refused"]) == (9, 1)
    assert row["complaint"].startswith("key '2': priority must be a whole number")


async def test_names_given_to_kinds_and_queues_hold_for_the_refill_too(database: Database) -> None:
    await database.execute(WORKER_TASKS + CRAWL_JOBS)
    await define(database, "crawl_jobs", {"kinds": {"product_resync": "resync"}, "queues": {"product_resync": "shops"}})
    assert {row["kind"] for row in await database.call("refill_jobs", None, None, True)} == {"resync"}
    assert {(each["kind"], each["queue"]) for each in await jobs_of(database)} == {("resync", "shops")}
