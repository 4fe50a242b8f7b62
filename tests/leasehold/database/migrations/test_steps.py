"""Indexes that are made while everybody goes on working, and go on after a run was killed."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
import trio

from leasehold.database import Database, open_database
from leasehold.database.migrations import Catalogue, migrate, schema_state
from leasehold.database.migrations.steps import Index
from leasehold.errors import LeaseholdError
from tests.conftest import Psql
from tests.support.waiting import eventually

FIRST = {"0001_boxes": "create table leasehold.boxes (id int, label text);"}
INDEX = "-- concurrently\ncreate index concurrently boxes_label on leasehold.boxes (label);\nanalyze leasehold.boxes;\n"
INDEXED = Catalogue.of({**FIRST, "0002_index": INDEX}, {}, {})
VALID = "select indisvalid from pg_index where indexrelid = 'leasehold.boxes_label'::regclass"
WAITING = (
    "select pid from pg_stat_activity where datname = current_database()"
    " and query like 'create index concurrently%' and wait_event = 'virtualxid'"
)


@pytest.fixture
async def boxes(empty_database_url: str) -> AsyncGenerator[Database]:
    await migrate(empty_database_url, catalogue=Catalogue.of(FIRST, {}, {}))
    async with open_database(empty_database_url) as database:
        yield database


def test_an_index_is_recognised_and_nothing_else() -> None:
    assert Index.of("create unique index concurrently if not exists a on leasehold.b (c)") == Index(
        "leasehold.a", "leasehold.b"
    )
    assert Index.of("alter table leasehold.b validate constraint c") is None


async def test_an_index_is_made_without_holding_up_writers_behind_a_long_reader(boxes: Database) -> None:
    async with boxes.transaction() as reader:
        await reader.execute("set transaction isolation level repeatable read")
        await reader.fetch("select * from leasehold.boxes")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: migrate(boxes.dsn, catalogue=INDEXED))
            await eventually(lambda: boxes.fetch(WAITING))
            await boxes.fetch("insert into leasehold.boxes values (1, 'written meanwhile')")
            assert await boxes.fetch(VALID) == [(False,)]
            await reader.execute("commit; begin")
    assert await boxes.fetch(VALID) == [(True,)]
    assert (await schema_state(boxes.dsn, catalogue=INDEXED)).pending == ()


async def test_an_index_that_was_left_half_made_is_made_anew(boxes: Database) -> None:
    async with boxes.transaction() as reader:
        await reader.execute("set transaction isolation level repeatable read")
        await reader.fetch("select * from leasehold.boxes")
        async with trio.open_nursery() as nursery:

            async def run() -> None:
                with pytest.raises(LeaseholdError):
                    await migrate(boxes.dsn, catalogue=INDEXED)

            nursery.start_soon(run)
            [(pid,)] = await eventually(lambda: boxes.fetch(WAITING))
            await boxes.fetch("select pg_terminate_backend($1)", pid)
        assert await boxes.fetch(VALID) == [(False,)]
    assert (await schema_state(boxes.dsn, catalogue=INDEXED)).pending == ("0002_index",)
    await migrate(boxes.dsn, catalogue=INDEXED)
    assert await boxes.fetch(VALID) == [(True,)]


async def test_an_index_that_was_finished_but_not_written_down_is_kept(boxes: Database, psql: Psql) -> None:
    psql(boxes.dsn, "create index boxes_label on leasehold.boxes (label)")
    before = psql(boxes.dsn, "select 'leasehold.boxes_label'::regclass::oid")
    await migrate(boxes.dsn, catalogue=INDEXED)
    assert psql(boxes.dsn, "select 'leasehold.boxes_label'::regclass::oid") == before


async def test_in_a_new_database_it_is_an_ordinary_index(empty_database_url: str, psql: Psql) -> None:
    psql(empty_database_url, INDEXED.script())
    assert psql(empty_database_url, VALID) == "t"
    assert (await migrate(empty_database_url, catalogue=INDEXED)).is_empty
