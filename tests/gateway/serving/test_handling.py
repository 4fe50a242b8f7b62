from __future__ import annotations

import re
from collections.abc import Generator

import pytest

from leasehold.gateway.route_table import ROUTES
from leasehold.gateway.routing.routes import Route
from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import RunningGateway, read_until_closed, running_gateway

CHUNKED = (
    b"POST /api/jobs/5/cancel HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
)


@pytest.fixture(scope="module")
def gateway() -> Generator[RunningGateway]:
    with running_gateway(FakeClient()) as gateway:
        yield gateway


def address_of(route: Route) -> str:
    return re.sub(r"{\w+}", lambda found: "1" * 16 if found[0] == "{fingerprint}" else "1", route.path)


def test_no_route_ignores_a_body(gateway: RunningGateway) -> None:
    for route in ROUTES:
        if route.request is None:
            answer = gateway.call(route.method, address_of(route), {"threshold_minutes": 1})
            assert (answer.status, answer.body["code"]) == (422, "unexpected_body"), route.path


def test_no_route_ignores_a_query_parameter(gateway: RunningGateway) -> None:
    for route in ROUTES:
        answer = gateway.call(route.method, f"{address_of(route)}?colour=red")
        assert (answer.status, answer.body["errors"][0]["path"]) == (422, "query.colour"), route.path


def test_a_refusal_names_the_parameters_that_there_are(gateway: RunningGateway) -> None:
    def message(path: str) -> str:
        return gateway.call("POST", path).body["errors"][0]["message"]

    assert message("/api/jobs/recover-stale?minute=1").endswith("there are minutes, worker")
    assert message("/api/jobs/5/retry?minute=1").endswith("this address takes none")


def test_a_body_of_nothing_is_none(gateway: RunningGateway) -> None:
    assert gateway.call("POST", "/api/jobs/5/cancel", b"").body.get("code") != "unexpected_body"


@pytest.mark.parametrize(("chunks", "is_refused"), [(b"2\r\n{}\r\n0\r\n\r\n", True), (b"0\r\n\r\n", False)])
def test_the_length_of_a_chunked_body_is_found_by_reading(
    gateway: RunningGateway, chunks: bytes, is_refused: bool
) -> None:
    with gateway.connect() as connection:
        connection.sendall(CHUNKED + chunks)
        answer = read_until_closed(connection)
    assert (b"unexpected_body" in answer) is is_refused
