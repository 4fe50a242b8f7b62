from __future__ import annotations

import asyncio
import logging
import socket

import msgspec
import pytest

from leasehold.gateway.http.reading import RequestLimits
from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import RunningGateway, read_until_closed, running_gateway
from tests.support.waiting import PATIENCE

PATIENT = RequestLimits(
    body_bytes=100_000,
    args_bytes=50_000,
    json_depth=100,
    read_seconds=PATIENCE,
    idle_seconds=PATIENCE,
    linger_seconds=PATIENCE,
)
HEAD = b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET /livez HTTP/9.9\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost: a\r\nBroken\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\nhello\r\n",
    ],
)
def test_bytes_that_are_no_http_get_a_problem_and_a_closed_connection(garbage: bytes) -> None:
    with running_gateway(FakeClient()) as gateway, gateway.connect() as connection:
        connection.sendall(garbage)
        heard = read_until_closed(connection)
    assert b" 400 Bad Request\r\n" in heard
    assert b"application/problem+json" in heard
    assert b'"code":"malformed_request"' in heard
    assert b"Traceback" not in heard


@pytest.mark.parametrize(
    ("request_head", "status", "code"),
    [
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414, "address_too_long"),
        (b"GET /livez?verbose=" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414, "address_too_long"),
        (b"GET /livez HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 20_000 + b"\r\n\r\n", 431, "header_too_long"),
        (b"GET /livez HTTP/1.1\r\nHost: a\r\n" + b"X" * 20_000 + b": a\r\n\r\n", 431, "header_too_long"),
    ],
    ids=["path", "query", "value", "name"],
)
def test_a_head_that_is_too_long_says_what_of_it(request_head: bytes, status: int, code: str) -> None:
    with running_gateway(FakeClient()) as gateway, gateway.connect() as connection:
        connection.sendall(request_head)
        heard = read_until_closed(connection)
    assert heard.split()[1] == str(status).encode()
    assert f'"code":"{code}"'.encode() in heard


def test_a_body_that_says_it_is_too_large_is_refused_before_it_comes() -> None:
    with running_gateway(FakeClient(), limits=PATIENT) as gateway, gateway.connect() as connection:
        connection.sendall(HEAD + b"Content-Length: 100001\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_body_without_a_length_is_cut_off_at_the_limit() -> None:
    with running_gateway(FakeClient(), limits=PATIENT) as gateway, gateway.connect() as connection:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(11):
            connection.sendall(b"2710\r\n" + b" " * 10_000 + b"\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_body_that_trickles_is_given_up_and_its_connection_closed() -> None:
    client = FakeClient()
    impatient = msgspec.structs.replace(PATIENT, read_seconds=0.01, linger_seconds=0.01)
    with running_gateway(client, limits=impatient) as gateway, gateway.connect() as connection:
        connection.sendall(HEAD + b'Content-Length: 100\r\n\r\n{"kind"')
        heard = read_until_closed(connection)
    assert heard.startswith(b"HTTP/1.1 408 ")
    assert b'"code":"slow_body"' in heard
    assert b"Connection: close" in heard
    assert client.statements == []


def test_a_caller_that_hangs_up_in_the_middle_is_nobodys_fault(caplog: pytest.LogCaptureFixture) -> None:
    client = FakeClient()
    with running_gateway(client) as gateway:
        for beginning in (HEAD, HEAD + b'Content-Length: 100\r\n\r\n{"kind"'):
            with gateway.connect() as connection:
                connection.sendall(beginning)
        assert gateway.call("GET", "/livez").status == 200
    assert client.statements == []
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


@pytest.mark.parametrize("beginning", [b"", b"GET /livez HT", HEAD])
def test_a_connection_that_never_completes_a_request_is_closed(beginning: bytes) -> None:
    impatient = msgspec.structs.replace(PATIENT, idle_seconds=0.1)
    with running_gateway(FakeClient(), limits=impatient) as gateway, begin(gateway, beginning) as connection:
        assert read_until_closed(connection) == b""


def begin(gateway: RunningGateway, beginning: bytes) -> socket.socket:
    """A connection that has said this before the gateway, whose loop stands still meanwhile, counts how long it is idle."""

    async def connect() -> socket.socket:
        connection = gateway.connect()
        connection.sendall(beginning)
        return connection

    return asyncio.run_coroutine_threadsafe(connect(), gateway.loop).result(PATIENCE)


def test_requests_sent_back_to_back_are_answered_in_order() -> None:
    with running_gateway(FakeClient()) as gateway, gateway.connect() as connection:
        ask = b"GET %s HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: %s\r\n%s\r\n"
        connection.sendall(
            ask % (b"/livez", b"one", b"")
            + ask % (b"/nowhere", b"two", b"")
            + ask % (b"/livez", b"three", b"Connection: close\r\n")
        )
        heard = read_until_closed(connection)
    assert heard.index(b"one") < heard.index(b"two") < heard.index(b"three")


@pytest.mark.parametrize(
    ("line", "host", "status", "code"),
    [
        (b"GET /livez", b"localhost", 200, None),
        (b"GET /api/jobs/1", b"evil.example", 421, "unknown_host"),
        (b"GET /nowhere", b"localhost", 404, "not_found"),
        (b"DELETE /api/jobs", b"localhost", 405, "method_not_allowed"),
    ],
)
def test_an_expectation_that_nobody_knows_changes_no_answer(
    line: bytes, host: bytes, status: int, code: str | None
) -> None:
    with running_gateway(FakeClient()) as gateway, gateway.connect() as connection:
        connection.sendall(line + b" HTTP/1.1\r\nHost: " + host + b"\r\nExpect: x\r\nConnection: close\r\n\r\n")
        heard = read_until_closed(connection)
    assert heard.split()[1] == str(status).encode()
    assert code is None or f'"code":"{code}"'.encode() in heard


def test_a_client_that_waits_for_100_is_told_to_go_on() -> None:
    with running_gateway(FakeClient()) as gateway, gateway.connect() as connection:
        connection.sendall(HEAD + b"Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 100 Continue\r\n")
        connection.sendall(b"{}")
        assert read_until_closed(connection).startswith(b"HTTP/1.1 4")
