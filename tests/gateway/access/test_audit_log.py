from __future__ import annotations

import json
import logging

import msgspec
import pytest

from leasehold.client import Client
from leasehold.database import open_asyncio_database
from leasehold.gateway.access.audit_log import describe, is_audited
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.nouns.jobs import EditBody
from leasehold.gateway.nouns.jobs_enqueue import JobBody
from leasehold.gateway.route_table import ROUTES
from leasehold.gateway.routing.routes import NoParameters
from tests.conftest import Psql
from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import RunningGateway, run, running_gateway, running_service


class Body(msgspec.Struct):
    args: dict[str, str] | None = None
    ids: list[int] | None = None
    nested: list[dict[str, str]] | None = None


def test_every_route_that_changes_something_for_others_is_audited_and_no_other() -> None:
    for route in ROUTES:
        changes = route.method != "GET" and route.scope in (Scope.OPERATE, Scope.ADMIN)
        is_beat = route.path == "/api/workers/{id}/heartbeat"
        assert is_audited(route.method, route.path, route.scope) == (changes and not is_beat)
    assert any(is_audited(route.method, route.path, route.scope) for route in ROUTES)


def test_what_cannot_be_written_down_is_not_done() -> None:
    client = FakeClient()
    with running_gateway(client) as gateway:
        assert gateway.call("POST", "/api/chains/1/cancel").status == 404
        client.is_away = True
        assert gateway.call("POST", "/api/chains/1/cancel").status == 503
    assert client.chains.asked == [1]


def test_what_jobs_are_about_is_none_of_an_auditors_business() -> None:
    body = Body(args={"password": "hunter2"}, ids=[1, 2], nested=[{"metadata": "secret stuff"}])
    assert describe(Body(), body) == {"body": {"args": "…", "ids": [1, 2], "nested": [{"metadata": "…"}]}}
    assert describe(Body(), None) == {}


def test_of_a_hidden_field_it_is_told_only_that_it_was_sent() -> None:
    def told(text: bytes, kind: type[msgspec.Struct]) -> object:
        return describe(NoParameters(), msgspec.json.decode(text, type=kind))

    assert told(b'{"priority": 7}', EditBody) == {"body": {"priority": 7}}
    assert told(b'{"priority": 7, "args": null}', EditBody) == {"body": {"priority": 7}}
    assert told(b'{"args": {"a": 1}}', EditBody) == {"body": {"args": "…"}}
    assert told(b'{"metadata": {}}', EditBody) == {"body": {"metadata": "…"}}
    assert told(b'{"kind": "a"}', JobBody) == {"body": {"kind": "a"}}
    assert told(b'{"kind": "a", "args": {}}', JobBody) == {"body": {"kind": "a", "args": "…"}}


def prepare(database_url: str) -> dict[str, str]:
    """Tokens by scope."""

    async def main() -> dict[str, str]:
        async with open_asyncio_database(database_url) as database:
            client = Client(database)
            return {
                scope: (await client.tokens.create(f"{scope}er", [scope], created_by="ada")).secret
                for scope in ("enqueue", "read", "operate", "admin")
            }

    return run(main())


def call(gateway: RunningGateway, token: str, method: str, path: str, body: object = None) -> int:
    return gateway.call(method, path, body, {"Authorization": f"Bearer {token}"}).status


def test_the_whole_way_with_a_database(database_url: str, psql: Psql, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    tokens = prepare(database_url)
    with running_service(database_url) as gateway:
        assert gateway.call("GET", "/api/jobs/counts").status == 401
        made = gateway.call("POST", "/api/jobs", {"kind": "a"}, {"Authorization": f"Bearer {tokens['enqueue']}"})
        job = made.body["id"]
        assert call(gateway, tokens["enqueue"], "GET", f"/api/jobs/{job}") == 403
        assert call(gateway, tokens["read"], "GET", f"/api/jobs/{job}") == 200
        assert call(gateway, tokens["read"], "POST", f"/api/chains/{job}/cancel") == 403
        assert gateway.call("POST", f"/api/chains/{job}/cancel").status == 401
        assert call(gateway, tokens["operate"], "POST", f"/api/chains/{job}/cancel?unknown=1") == 422
        assert call(gateway, tokens["operate"], "POST", f"/api/chains/{job}/cancel?reason=clean") == 200
        assert call(gateway, tokens["operate"], "POST", f"/api/chains/{job}/cancel") == 409
    rows = psql(
        database_url,
        "select actor, action, status, address, request_id is null, detail from leasehold.audit_log"
        " where action like 'POST%' order by id",
    ).splitlines()
    assert [row.split("|")[:5] for row in rows] == [
        ["operateer", "POST /api/chains/{id}/cancel", status, "127.0.0.1", "f"] for status in ("200", "409")
    ]
    assert json.loads(rows[0].split("|")[5]) == {"parameters": {"id": job, "reason": "clean"}}
    assert any("operateer: 200" in line for line in caplog.messages)
    told = caplog.text + psql(database_url, "select * from leasehold.audit_log; select * from leasehold.api_tokens")
    for token in tokens.values():
        assert token not in told
        assert token[9:] not in told
