"""docs/handlers.md: a bank, a page of somebody else's, and a file."""

from __future__ import annotations

import hashlib
from functools import partial
from types import ModuleType
from typing import Any

import aiohttp
import msgspec
import trio

from leasehold import App, Client, Context, ContinueWith, Job

TABLES = "create table bookings (order_id int)"
WORKER = True
SHARED = (hashlib, aiohttp, trio, Any, App, Context, ContinueWith, Job)


class Receipt(msgspec.Struct):
    order: int


async def ask_bank(order: int, token: str) -> str:
    return f"{token} is paid"


async def is_free(order: int) -> bool:
    return order == 0


async def answer(stream: trio.SocketStream) -> None:
    await stream.receive_some()
    await stream.send_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    await stream.aclose()


async def after(page: ModuleType, client: Client) -> None:
    text = trio.Path("text")
    await text.write_text("one\ntwo\n")
    path = str(await text.absolute())
    async with trio.open_nursery() as nursery:
        listener, *_ = await nursery.start(partial(trio.serve_tcp, answer, 0, host="127.0.0.1"))
        port = listener.socket.getsockname()[1]
        assert await client.wait(await client.enqueue(page.look.new(f"http://127.0.0.1:{port}/"))) == 204
        nursery.cancel_scope.cancel()
    assert await client.wait(await client.enqueue(page.measure.new([path, path]))) == 16
    assert await client.wait(await client.enqueue(page.count_lines.new(path))) == 2
    assert await client.wait(await client.enqueue(page.charge.new(7))) == "order-7 is paid"
    await client.wait(await client.enqueue(page.book.new(7)))
    async with client.transaction() as tx:
        assert [row["order_id"] for row in await tx.fetch("select order_id from bookings")] == [7]
    assert await client.wait(await client.enqueue(page.pay.new(0))) == "nothing to pay"
    assert await client.wait(await client.enqueue(page.pay.new(5))) == {"order": 5}
    assert await client.wait(await client.enqueue("of_nobody", {"shop": 7})) == "of_nobody with {'shop': 7}"
