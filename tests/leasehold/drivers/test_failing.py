"""Errors as each library brings them, on real connections."""

from __future__ import annotations

from typing import Any, cast

import asyncpg
import psycopg
import pytest
import sqlalchemy
from sqlalchemy.ext.asyncio import create_async_engine

from benchmarks.owned import CONNECTIONS, Owned
from leasehold import NewJob, Unique
from leasehold.drivers import error_of_driver, raising_ours
from leasehold.errors import BadInput, DatabaseUnavailable, IdempotencyMismatch, QueryRefused, UniqueConflict
from tests.support.flavours import under_asyncio

ALONE: NewJob[None] = NewJob(kind="alone", unique=Unique(by=["kind"], on_conflict="reject"))


@under_asyncio
async def test_what_postgres_refuses_is_told_in_its_own_words_whatever_library_brings_it(database_url: str) -> None:
    async def refused_and_again(owned: Owned) -> None:
        async with owned.transaction():
            with pytest.raises(BadInput):
                await owned.enqueue(NewJob(kind="x", queue="a,b"))
            await owned.enqueue(NewJob(kind="x"))

    first: int | None = None
    for name, connecting in CONNECTIONS.items():
        async with connecting(database_url) as owned:
            if first is None:
                async with owned.transaction():
                    first = await owned.enqueue(ALONE)
            with pytest.raises(UniqueConflict) as raised:
                async with owned.transaction():
                    await owned.enqueue(ALONE)
            assert (name, raised.value.job_id) == (name, first)
            with pytest.raises(BadInput, match=r"^queue has a comma"):
                async with owned.transaction():
                    await owned.enqueue(NewJob(kind="x", queue="a,b"))
            with pytest.raises(QueryRefused, match="25P02"):
                await refused_and_again(owned)


def test_a_connection_that_has_gone_is_a_database_that_is_away(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.close()
        with pytest.raises(DatabaseUnavailable, match="closed"), raising_ours():
            connection.execute("select 1")
    with pytest.raises(DatabaseUnavailable), raising_ours():
        sqlalchemy.create_engine("postgresql+psycopg://nobody@127.0.0.1:1/none").connect()


def test_a_library_that_is_used_wrongly_says_so_itself() -> None:
    with pytest.raises(ValueError, match="theirs"), raising_ours():
        raise ValueError("theirs")
    with pytest.raises(IdempotencyMismatch), raising_ours():
        raise IdempotencyMismatch
    assert error_of_driver(psycopg.ProgrammingError("no state")) is None
    assert type(error_of_driver(ConnectionResetError("reset"))) is DatabaseUnavailable


def test_an_error_that_is_its_own_cause_is_looked_at_once() -> None:
    error = ValueError("round")
    error.__cause__ = error
    assert error_of_driver(error) is None


@under_asyncio
async def test_sqlalchemy_over_asyncpg_keeps_the_answer_of_postgres(database_url: str) -> None:
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: cast("Any", asyncpg).connect(database_url)
    )
    async with engine.connect() as connection:
        with pytest.raises(BadInput, match="nothing was enqueued"), raising_ours():
            await connection.execute(sqlalchemy.text("select leasehold.enqueue_jobs('[{}]')"))
    await engine.dispose()
