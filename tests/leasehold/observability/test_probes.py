from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import msgspec
import pytest

from leasehold.errors import SettingsError
from leasehold.observability import probes as module
from leasehold.observability.health import Health
from leasehold.observability.metrics import MetricsMissing
from leasehold.observability.probes import open_probes
from tests.support.waiting import PATIENCE


class Probes(msgspec.Struct):
    """Probes that answer."""

    url: str
    health: Health

    def get(self, path: str, method: str = "GET") -> tuple[int, str, str]:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE)
        try:
            connection.request(method, path)
            response = connection.getresponse()
            return response.status, response.headers["Content-Type"], response.read().decode()
        finally:
            connection.close()

    def connect(self) -> socket.socket:
        place = urlsplit(self.url)
        assert place.hostname is not None
        assert place.port is not None
        return socket.create_connection((place.hostname, place.port), timeout=PATIENCE)


def expose(accept: str) -> tuple[bytes, str]:
    return b"leasehold_up 1\n", "text/plain"


@contextmanager
def running() -> Generator[Probes]:
    health = Health(30.0)
    with open_probes("127.0.0.1", 0, health, expose) as url:
        yield Probes(url, health)


def test_each_question_has_an_address_and_an_answer_like_the_gateways() -> None:
    with running() as probes:
        assert probes.get("/livez") == (200, "application/json", '{"status":"ok"}')
        status, content_type, text = probes.get("/readyz")
        assert (status, content_type) == (503, "application/problem+json")
        problem = json.loads(text)
        assert (problem["code"], problem["detail"]) == ("not_ready", "Not well: database, start.")
        assert [each["path"] for each in problem["errors"]] == ["database", "start"]
        assert probes.get("/startupz")[0] == 503
        probes.health.has_started = True
        probes.health.database_answered()
        assert probes.get("/startupz")[0] == 200
        checks = ["event loop", "database", "start", "draining"]
        assert json.loads(probes.get("/readyz?verbose")[2]) == {"status": "ok", "checks": checks}


def test_metrics_are_told_at_the_same_port() -> None:
    with running() as probes:
        assert probes.get("/metrics") == (200, "text/plain", "leasehold_up 1\n")


def test_without_prometheus_client_the_probes_answer_all_the_same() -> None:
    def missing(accept: str) -> tuple[bytes, str]:
        raise MetricsMissing

    with open_probes("127.0.0.1", 0, Health(30.0), missing) as url:
        probes = Probes(url, Health(30.0))
        status, _, text = probes.get("/metrics")
        assert (status, json.loads(text)["code"]) == (404, "metrics_missing")
        assert probes.get("/livez")[0] == 200


def test_metrics_that_cannot_be_told_are_our_fault_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    def broken(accept: str) -> tuple[bytes, str]:
        raise ZeroDivisionError

    with open_probes("127.0.0.1", 0, Health(30.0), broken) as url:
        status, _, text = Probes(url, Health(30.0)).get("/metrics")
    assert (status, json.loads(text)["code"]) == (500, "internal")
    assert "could not be told" in caplog.text


def test_other_addresses_and_methods_are_refused_and_head_has_no_body() -> None:
    with running() as probes:
        assert probes.get("/")[0] == 404
        assert probes.get("/livez", "HEAD") == (200, "application/json", "")
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"):
            status, content_type, text = probes.get("/metrics?x", method)
            assert (status, content_type) == (405, "application/problem+json")
            assert json.loads(text)["code"] == "method_not_allowed"
        assert json.loads(probes.get("/", "POST")[2])["code"] == "not_found"
        with probes.connect() as connection:
            connection.sendall(b"POST /livez HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
            assert b"\r\nAllow: GET, HEAD\r\n" in b"".join(iter(lambda: connection.recv(1000), b""))


def test_strangers_who_say_nothing_keep_nobody_out_but_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as probes:
        silent = [probes.connect() for _ in range(module.MOST_AT_ONCE - 1)]
        assert probes.get("/livez")[0] == 200
        silent += [probes.connect() for _ in range(20)]
        assert any(each.recv(1) == b"" for each in silent[-1:])
        for each in silent:
            each.close()


def test_garbage_is_refused_and_harms_nobody() -> None:
    with running() as probes:
        for garbage in (b"\x00\xff" * 100 + b"\r\n\r\n", b"GET /livez HTTP/9.9\r\n\r\n"):
            with probes.connect() as connection:
                connection.sendall(garbage)
                connection.shutdown(socket.SHUT_WR)
                assert b"malformed_request" in b"".join(iter(lambda: connection.recv(1000), b""))
        with probes.connect() as connection, suppress(OSError):  # hung up on before all of it is read
            connection.sendall(b"GET " + b"a" * 100_000)
            connection.recv(1000)
        assert probes.get("/livez")[0] == 200


def test_a_port_that_is_taken_is_a_clear_error() -> None:
    with running() as probes:
        port = urlsplit(probes.url).port
        assert port is not None
        with (
            pytest.raises(SettingsError, match="choose another --probe-port"),
            open_probes("127.0.0.1", port, probes.health, expose),
        ):
            pass


def test_an_address_of_ipv6_is_bound_as_such() -> None:
    with open_probes("::1", 0, Health(30.0), expose) as url:
        assert url.startswith("http://[::1]:")
        assert Probes(url, Health(30.0)).get("/livez")[0] == 200
