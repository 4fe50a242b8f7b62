"""docs/coming-from-rq.md: a bank."""

from __future__ import annotations

from types import ModuleType

from leasehold import Client

WORKER = True


def ask_bank(order_id: int) -> str:
    return f"receipt {order_id}"


async def after(page: ModuleType, client: Client) -> None:
    assert [job.output for job in await client.jobs.list()] == ["receipt 7"]
