"""docs/payloads.md: products of a shop."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from leasehold import Client

WORKER = True
VARIABLES = {"LEASEHOLD_PAYLOADS_STORE": "payloads"}


async def fetch_all(shop: int) -> list[dict[str, Any]]:
    return [{"id": number, "shop": shop} for number in range(3)]


async def after(page: ModuleType, client: Client) -> None:
    assert len(page.products) == 3
    chain = await client.chains.wait(await client.enqueue(page.payload_fetch.new(7)))
    assert chain.state == "completed"
