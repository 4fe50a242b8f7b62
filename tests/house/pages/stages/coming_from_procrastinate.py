"""docs/coming-from-procrastinate.md: a bank."""

from __future__ import annotations

TABLES = "create table orders (id int)"
FLAVOUR = "asyncio"
WORKER = True


async def ask_bank(order_id: int) -> str:
    return f"receipt {order_id}"
