from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from leasehold.errors import SettingsError
from leasehold.gateway.serving.serve import serve
from leasehold.settings import Settings
from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import RunningGateway, read_until_closed, running_gateway
from tests.support.waiting import PATIENCE

HEAD = b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def test_stopping_finishes_the_requests_in_flight_and_takes_no_new_connections() -> None:
    client = FakeClient()
    with running_gateway(client) as gateway, ThreadPoolExecutor(1) as pool, gateway.connect() as half_sent:
        client.gate = asyncio.Event()
        begin_request(half_sent)
        in_flight = pool.submit(gateway.call, "POST", "/api/jobs", {"kind": "in flight"})
        asyncio.run_coroutine_threadsafe(client.entered.wait(), gateway.loop).result(PATIENCE)
        gateway.begin_stop()
        with pytest.raises(ConnectionRefusedError):
            gateway.connect()
        half_sent.sendall(b'{"kind": "half sent"}')
        gateway.loop.call_soon_threadsafe(client.gate.set)
        answer = in_flight.result(PATIENCE)
        assert answer.status == 201
        assert answer.headers["Connection"] == "close"
        assert read_until_closed(half_sent).startswith(b"HTTP/1.1 201 ")
    assert sorted(job.kind for job in client.enqueued) == ["half sent", "in flight"]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_copy_of_the_process_keeps_neither_the_port_nor_a_connection_open() -> None:
    with running_gateway(FakeClient()) as gateway, gateway.connect() as idle:
        assert gateway.call("GET", "/livez").status == 200
        is_there, there = os.pipe()
        copy = os.fork()
        if copy == 0:
            try:
                os.write(there, b"!")  # the hooks of the fork have run
                while True:
                    time.sleep(1)
            finally:
                os._exit(0)
        os.close(there)
        try:
            assert os.read(is_there, 1) == b"!"
            gateway.begin_stop()
            assert read_until_closed(idle) == b""
            with pytest.raises(ConnectionRefusedError):
                gateway.connect()
        finally:
            os.kill(copy, signal.SIGKILL)
            os.waitpid(copy, 0)
            os.close(is_there)


def test_stopping_does_not_wait_for_connections_that_ask_nothing() -> None:
    settings = Settings(gateway_port=0, drain_seconds=60)
    with running_gateway(FakeClient(), settings=settings) as gateway, gateway.connect() as idle:
        assert gateway.call("GET", "/livez").status == 200
        gateway.begin_stop()
        assert read_until_closed(idle) == b""


def test_what_came_just_before_the_port_closes_is_closed_too() -> None:
    """Its socket, and not first by the collector of garbage, which warns of it. Rounds of the loop lie between the two."""

    async def come_and_stop(gateway: RunningGateway, rounds: int) -> socket.socket:
        connection = gateway.connect()  # the kernel accepts it, the gateway has not heard of it yet
        for _ in range(rounds):
            await asyncio.sleep(0)
        gateway.begin_stop_now()
        return connection

    for rounds in range(6):
        with running_gateway(FakeClient()) as gateway:
            stopping = asyncio.run_coroutine_threadsafe(come_and_stop(gateway, rounds), gateway.loop)
            connection = stopping.result(PATIENCE)
        with connection, suppress(ConnectionResetError):
            assert connection.recv(1) == b""
    gc.collect()


def test_a_request_that_does_not_end_is_given_up_after_the_drain() -> None:
    client = FakeClient()
    settings = Settings(gateway_port=0, drain_seconds=0.1)
    with running_gateway(client, settings=settings) as gateway, gateway.connect() as trickling:
        begin_request(trickling)
        gateway.begin_stop()
        assert b" 201 " not in read_until_closed(trickling)
    assert client.enqueued == []


def begin_request(connection: socket.socket) -> None:
    """Sends the head of an enqueue with a body of 21 bytes; returns when the gateway waits for them."""
    connection.sendall(HEAD + b"Content-Length: 21\r\nExpect: 100-continue\r\n\r\n")
    assert b" 100 " in connection.recv(4096)


def test_a_port_that_is_taken_is_a_clear_settings_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = Settings(gateway_port=taken.getsockname()[1], database_url="postgresql://nobody@127.0.0.1:1/x")
        with pytest.raises(SettingsError, match=r"cannot listen on 127\.0\.0\.1:.*--port"):
            asyncio.run(serve(settings))


def test_nothing_is_opened_where_the_port_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("127.0.0.1", 0)) as database:
        database_url = f"postgresql://nobody@127.0.0.1:{database.getsockname()[1]}/x"
        settings = Settings(gateway_port=taken.getsockname()[1], database_url=database_url)
        with pytest.raises(SettingsError, match="cannot listen"):
            asyncio.run(serve(settings))
        database.setblocking(False)
        with pytest.raises(BlockingIOError):
            database.accept()
