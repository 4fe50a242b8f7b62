"""docs/coming-from-celery.md: a bank."""

from __future__ import annotations

from types import ModuleType

from leasehold import Client

TABLES = "create table orders (id int)"
WORKER = True


def ask_bank(order_id: int) -> str:
    return f"receipt {order_id}"


async def after(page: ModuleType, client: Client) -> None:
    assert await client.wait(2) == "receipt 8"
    assert [(job.args, job.state) for job in await client.jobs.list()] == [
        ({"order_id": 8}, "completed"),
        ({"order_id": 7}, "scheduled"),
    ]
