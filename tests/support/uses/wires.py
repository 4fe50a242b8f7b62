"""Programs, sockets, streams and pipes of asyncio."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import tempfile
from functools import partial
from typing import Any

from tests.support.uses import use


@use
async def a_program() -> Any:
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "print(input()[::-1])", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await program.communicate(b"abc\n")
    return [out.decode(), program.returncode]


@use
async def a_shell() -> Any:
    program = await asyncio.create_subprocess_shell(
        "echo one; echo two; exit 3", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    assert program.stdout is not None
    lines = [line.decode() async for line in program.stdout]
    return [lines, await program.wait()]


@use
async def a_program_that_is_killed() -> Any:
    program = await asyncio.create_subprocess_exec("sleep", "600")
    program.kill()
    return await program.wait()


@use
async def a_program_that_is_not_there() -> Any:
    await asyncio.create_subprocess_exec("/nowhere/nothing")


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write((await reader.readline()).upper())
    await writer.drain()
    writer.close()
    await writer.wait_closed()


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
    writer.write(b"hello\n")
    await writer.drain()
    said = await reader.read()
    writer.close()
    await writer.wait_closed()
    return said.decode()


@use
async def streams() -> Any:
    async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
        return await ask(*await asyncio.open_connection(*server.sockets[0].getsockname()[:2]))


@use
async def unix_streams() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "socket")
        async with await asyncio.start_unix_server(echo, path):
            return await ask(*await asyncio.open_unix_connection(path))


@use
async def reading_too_far() -> Any:
    reader = asyncio.StreamReader()
    reader.feed_data(b"half a li")
    reader.feed_eof()
    await reader.readuntil(b"\n")


@use
async def nobody_listens() -> Any:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        try:
            await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            return "refused"


@use
async def plain_sockets() -> Any:
    loop = asyncio.get_running_loop()
    here, there = socket.socketpair()
    with here, there:
        here.setblocking(False)
        there.setblocking(False)
        await loop.sock_sendall(here, b"ping")
        return (await loop.sock_recv(there, 10)).decode()


@use
async def readers_and_writers() -> Any:
    loop, here, there = asyncio.get_running_loop(), *socket.socketpair()
    with here, there:
        readable, writable = asyncio.Event(), asyncio.Event()
        loop.add_reader(there, readable.set)
        loop.add_writer(here, writable.set)
        await writable.wait()
        here.send(b"x")
        await readable.wait()
        return [loop.remove_reader(there), loop.remove_writer(here)]


@use
async def datagrams() -> Any:
    loop = asyncio.get_running_loop()
    got: asyncio.Future[str] = loop.create_future()

    class Receiver(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: object) -> None:
            got.set_result(data.decode())

    transport, _ = await loop.create_datagram_endpoint(Receiver, ("127.0.0.1", 0))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"packet", transport.get_extra_info("sockname"))
    said = await got
    transport.close()
    return said


@use
async def pipes() -> Any:
    read, write = os.pipe()
    reader = asyncio.StreamReader()
    with os.fdopen(read, "rb") as end:
        await asyncio.get_running_loop().connect_read_pipe(partial(asyncio.StreamReaderProtocol, reader), end)
        os.write(write, b"through")
        os.close(write)
        return (await reader.read()).decode()


@use
async def names() -> Any:
    found = await asyncio.get_running_loop().getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM)
    return [each[4][0] for each in found]
