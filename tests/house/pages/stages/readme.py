"""README.md: a bank, an order and connections of the reader's own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from types import ModuleType
from typing import Any, cast

import sqlalchemy
from sqlalchemy.orm import Session

from leasehold import Client

FLAVOUR = "asyncio"
TABLES = "create table orders (id int, paid text)"


async def ask_bank(order_id: int, token: str) -> str:
    return f"receipt {order_id} {token}"


async def opened(dsn: str) -> AsyncGenerator[dict[str, Any]]:
    import asyncpg

    connection: Any = await cast("Any", asyncpg).connect(dsn)
    engine = sqlalchemy.create_engine(sqlalchemy.make_url(dsn).set(drivername="postgresql+psycopg"))
    with Session(engine) as session:
        yield {"connection": connection, "session": session}
        session.commit()
    engine.dispose()
    await connection.close()


async def after(page: ModuleType, client: Client) -> None:
    pass
