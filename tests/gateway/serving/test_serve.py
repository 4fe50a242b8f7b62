from __future__ import annotations

import signal
import socket

import pytest

from leasehold.errors import DatabaseUnavailable, SettingsError
from leasehold.gateway.serving.serve import serve
from leasehold.settings import Settings
from tests.gateway.fakes.running import run
from tests.support.processes import LeaseholdProcess, StartProcess


def test_a_public_address_without_any_token_is_refused_before_the_port_is_bound(database_url: str) -> None:
    with pytest.raises(SettingsError, match="leasehold tokens create"):
        run(serve(Settings(gateway_host="0.0.0.0", gateway_port=0, database_url=database_url)))


def test_a_public_address_is_refused_where_nobody_can_say_whether_there_are_tokens() -> None:
    with pytest.raises(DatabaseUnavailable):
        run(serve(Settings(gateway_host="0.0.0.0", gateway_port=0, database_url="postgresql://nowhere.invalid/")))


def test_a_signal_ends_the_process_politely(start_process: StartProcess, database_url: str) -> None:
    gateway = start_gateway(start_process, database_url)
    assert gateway.terminate() == 0


def test_a_second_signal_ends_it_at_once(start_process: StartProcess, database_url: str) -> None:
    gateway = start_gateway(start_process, database_url)
    with socket.create_connection(address_of(gateway)) as connection:
        head = b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(head + b"Content-Length: 21\r\nExpect: 100-continue\r\n\r\n")
        assert b" 100 " in connection.recv(4096)
        gateway.signal(signal.SIGTERM)
        gateway.wait_for_line("gateway stops")
        gateway.signal(signal.SIGTERM)
        assert gateway.wait() == -signal.SIGTERM


def start_gateway(start_process: StartProcess, database_url: str) -> LeaseholdProcess:
    process = start_process(["gateway", "--port", "0"], {"LEASEHOLD_DATABASE_URL": database_url})
    process.wait_for_line("gateway serves")
    return process


def address_of(process: LeaseholdProcess) -> tuple[str, int]:
    port = process.wait_for_line("gateway serves").rpartition(":")[2]
    return "127.0.0.1", int(port.strip('"}'))
