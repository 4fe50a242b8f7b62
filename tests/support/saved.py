"""Payloads saved by a program that has ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import trio

from leasehold import PayloadRecord, open_client


def save(database_url: str, folder: Path, *contents: Any, **options: Any) -> list[PayloadRecord]:
    """Save these one after the other."""

    async def main() -> list[PayloadRecord]:
        async with open_client(database_url, payloads=str(folder)) as client:
            chosen: dict[str, Any] = {"kind": "catalogue", **options}
            return [await client.payloads.save(each, **chosen) for each in contents]

    return trio.run(main)


def products(*given: tuple[int, float, int]) -> dict[str, Any]:
    """A catalogue as a shop sends it."""
    listed = [{"id": name, "name": f"no. {name}", "price": price, "stock": stock} for name, price, stock in given]
    return {"fetched": "now", "data": {"products": listed, "total": len(listed)}}


BEFORE = products((1, 2.5, 3), (2, 4.0, 0), (3, 1.0, 9))
AFTER = products((1, 2.75, 3), (3, 1.0, 8), (4, 7.0, 1))
