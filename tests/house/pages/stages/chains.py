"""docs/chains.md: an order that is charged, and files that are read."""

from __future__ import annotations

from types import ModuleType

from leasehold import App, Client, Job

app = App()
WORKER = True


async def charge(order: int) -> None:
    pass


def list_files() -> list[str]:
    return ["a", "bcd"]


@app.kind()
async def read(path: str) -> int:
    if path == "bcd" and app.find("discover_what_is_there"):
        return 3
    return len(path)


async def after(page: ModuleType, client: Client) -> None:
    assert await client.wait(await client.enqueue(page.pay.new(7))) == "packed"
    assert await client.wait(await client.enqueue(page.discover.new())) == 4
    assert await client.wait(await client.enqueue(page.discover_what_is_there.new())) == 4


__all__ = ["Job"]
