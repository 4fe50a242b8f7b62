"""Below which path a proxy shows the gateway: every address that an answer gives lies there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import RunningGateway, running_gateway, running_service

INCARNATION = "5f0c6a3e-8a1e-4d7b-9a53-0f0c5f3d9b10"
TOLD = {"X-Forwarded-Prefix": "/ops/jobs/"}


def locations(gateway: RunningGateway, headers: Mapping[str, str]) -> list[str]:
    """Where each route that makes something says that it is."""

    def make(path: str, body: Any) -> str:
        answer = gateway.call("POST", path, body, headers)
        assert answer.status in (201, 202), answer.body
        return answer.headers["Location"]

    gateway.call("POST", "/api/workers/go-1/heartbeat", {"incarnation": INCARNATION})
    return [
        make("/api/jobs", {"kind": "pay"}),
        make("/api/schedules", {"name": "nightly", "kind": "sweep", "cron": "0 3 * * *"}),
        make("/api/workers/go-1/commands", {"command": "pause"}),
    ]


PLACES = ["/api/jobs/1", "/api/schedules/nightly", f"/api/workers/{INCARNATION}/commands/1"]


def test_a_location_lies_where_the_proxy_shows_it(database_url: str) -> None:
    with running_service(database_url) as gateway:
        assert locations(gateway, TOLD) == [f"/ops/jobs{place}" for place in PLACES]


def test_a_location_below_the_prefix_of_the_settings_leads_there(database_url: str) -> None:
    with running_service(database_url, gateway_prefix="/ops") as gateway:
        found = locations(gateway, {})
        assert found == [f"/ops{place}" for place in PLACES]
        assert [gateway.call("GET", place).status for place in found] == [200, 200, 200]


@pytest.mark.parametrize("path", ["/openapi.json", "/openapi-compat.json"])
@pytest.mark.parametrize(
    ("headers", "url"), [({}, "/"), (TOLD, "/ops/jobs"), ({"X-Forwarded-Prefix": "//evil.example"}, "/")]
)
def test_the_documents_name_the_server_as_the_proxy_shows_it(path: str, headers: dict[str, str], url: str) -> None:
    with running_gateway(FakeClient()) as gateway:
        assert gateway.call("GET", path, headers=headers).body["servers"] == [{"url": url}]
