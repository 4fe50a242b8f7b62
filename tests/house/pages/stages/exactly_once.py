"""docs/exactly-once.md: payments, accounts, an ORM and pools of the reader's own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import suppress
from types import ModuleType
from typing import Any, cast

import msgspec
import psycopg
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from leasehold import App, Client, ContinueWith, Job

app = App()
FLAVOUR = "asyncio"
WORKER = True
SHARED = (psycopg, text, suppress, Session, ContinueWith, Job)
TABLES = """
create table orders (id int, amount int);
create table payments ("order" int, number text);
create table accounts (id int, balance int);
insert into orders values (7, 100);
insert into accounts values (1, 10), (2, 0);
"""
told: list[object] = []


class Receipt(msgspec.Struct):
    number: str


class Paid(msgspec.Struct):
    order: int


Parcel = str


class Base(DeclarativeBase):
    pass


class Payment(Base):
    __tablename__ = "payments"
    order: Mapped[int] = mapped_column(primary_key=True)


async def charge(amount: int, fence: object) -> Receipt:
    return Receipt(f"receipt over {amount}")


def tell_warehouse(orders: object) -> None:
    told.append(orders)


@app.kind()
async def ship(order: int) -> str:
    return f"order {order} is on its way"


@app.kind()
async def gift(order: int) -> str:
    return "a gift"


async def opened(dsn: str) -> AsyncGenerator[dict[str, Any]]:
    import asyncpg

    engine = sqlalchemy.create_engine(sqlalchemy.make_url(dsn).set(drivername="postgresql+psycopg"))
    connection: Any = await cast("Any", asyncpg).connect(dsn)
    yield {"DSN": dsn, "engine": engine, "connection": connection, "pool": None}
    await connection.close()
    engine.dispose()


async def after(page: ModuleType, client: Client) -> None:
    assert await client.wait(await client.enqueue(page.pay.new(7))) == {"number": "receipt over 100"}
    await client.wait(await client.enqueue(page.move.new(source=1, target=2, amount=4)))
    assert await client.wait(await client.enqueue(page.with_psycopg.new(8))) == {"order": 8}
    assert await client.wait(await client.enqueue(page.with_sqlalchemy.new(9))) == "order 9 is on its way"
    async with client.transaction() as tx:
        assert [tuple(row.values()) for row in await tx.fetch('select "order" from payments order by 1')] == [
            (7,),
            (8,),
            (9,),
        ]
        assert [tuple(row.values()) for row in await tx.fetch("select balance from accounts order by id")] == [
            (6,),
            (4,),
        ]
    assert told
