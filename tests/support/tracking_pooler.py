"""What a pooler that keeps track of prepared statements looks like from outside: names and process ids of its own."""

from __future__ import annotations

import struct
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from urllib.parse import parse_qs, urlsplit

import trio

from tests.support.folders import short_folder

SOCKET = ".s.PGSQL.5432"


@asynccontextmanager
async def tracking_pooler(dsn: str) -> AsyncGenerator[str]:
    """The connection string of something that renames prepared statements, before the Postgres of `dsn`."""
    parts = urlsplit(dsn)
    server = f"{parse_qs(parts.query)['host'][0]}/{SOCKET}"
    with short_folder() as folder:
        listener = trio.socket.socket(trio.socket.AF_UNIX)
        with listener:
            await listener.bind(str(folder / SOCKET))
            listener.listen()
            async with trio.open_nursery() as nursery:
                serve = partial(trio.serve_listeners, partial(_serve, server), [trio.SocketListener(listener)])
                nursery.start_soon(serve)
                yield f"postgresql://{parts.username}@{parts.path}?host={folder}"
                nursery.cancel_scope.cancel()


async def _serve(server: str, client: trio.SocketStream) -> None:
    async with client, await trio.open_unix_socket(server) as upstream:
        first = await _read(client, 4)
        await upstream.send_all(first + await _read(client, struct.unpack("!I", first)[0] - 4))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_pump, client, upstream, _rename, nursery.cancel_scope)
            nursery.start_soon(_pump, upstream, client, _hide_process, nursery.cancel_scope)


async def _pump(
    source: trio.SocketStream,
    sink: trio.SocketStream,
    change: Callable[[bytes, bytes], bytes],
    scope: trio.CancelScope,
) -> None:
    with suppress(EOFError, trio.BrokenResourceError, trio.ClosedResourceError):
        while True:
            head = await _read(source, 5)
            body = change(head[:1], await _read(source, struct.unpack("!I", head[1:])[0] - 4))
            await sink.send_all(head[:1] + struct.pack("!I", len(body) + 4) + body)
    scope.cancel()


async def _read(stream: trio.SocketStream, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = await stream.receive_some(size - len(found))
        if not part:
            raise EOFError
        found += part
    return found


def _rename(kind: bytes, body: bytes) -> bytes:
    """Parse, Bind, Describe and Close carry the name of a statement, at different places."""
    before = b""
    if kind == b"B":
        portal, _, body = body.partition(b"\0")
        before = portal + b"\0"
    elif kind in {b"D", b"C"} and body[:1] == b"S":
        before, body = body[:1], body[1:]
    elif kind != b"P":
        return body
    return before + (b"POOLER_" + body if body[:1] != b"\0" else body)


def _hide_process(kind: bytes, body: bytes) -> bytes:
    """BackendKeyData then names a process that is not the one of the server."""
    return struct.pack("!I", struct.unpack("!I", body[:4])[0] ^ 1) + body[4:] if kind == b"K" else body
