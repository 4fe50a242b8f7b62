from __future__ import annotations

import pytest

from leasehold.errors import SettingsError
from leasehold.gateway.access import check_binding, host_name, is_loopback
from leasehold.settings import Settings
from tests.gateway.fake_client import FakeClient
from tests.gateway.running import running_gateway

TOKEN = "a-token-of-decent-length"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "LocalHost."])
def test_loopback_needs_no_token(host: str) -> None:
    check_binding(Settings(gateway_host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.7", "gateway.example", "localhost.example"])
def test_another_address_is_refused_without_a_token_and_the_error_says_what_to_do(host: str) -> None:
    with pytest.raises(SettingsError, match="LEASEHOLD_GATEWAY_TOKEN"):
        check_binding(Settings(gateway_host=host))
    check_binding(Settings(gateway_host=host, gateway_token=TOKEN))


@pytest.mark.parametrize("token", ["", "two words", "tökenstattwort-lang", "line\nbreak-long-enough", "short"])
def test_a_token_that_guards_nothing_or_cannot_be_sent_is_refused(token: str) -> None:
    with pytest.raises(SettingsError, match="openssl rand"):
        check_binding(Settings(gateway_host="0.0.0.0", gateway_token=token))


@pytest.mark.parametrize(
    ("authority", "host"),
    [("localhost:8420", "localhost"), ("[::1]:8420", "::1"), ("[::1]", "::1"), ("127.0.0.1", "127.0.0.1"), ("", "")],
)
def test_the_host_header_is_taken_apart(authority: str, host: str) -> None:
    assert host_name(authority) == host
    assert is_loopback(host) == bool(host)


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Bearer wrong", f"bearer {TOKEN}x", "Bearer \xff"],
)
def test_a_call_without_the_token_is_refused_before_its_body_is_read(authorization: str | None) -> None:
    client = FakeClient()
    headers = {} if authorization is None else {"Authorization": authorization}
    with running_gateway(client, settings=Settings(gateway_port=0, gateway_token=TOKEN)) as gateway:
        answer = gateway.call("POST", "/api/jobs", b"{ not even JSON", headers)
    assert answer.status == 401
    assert answer.body["code"] == "unauthorized"
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert TOKEN not in str(answer)
    assert client.statements == []


def test_the_token_opens_the_door_and_probes_need_none() -> None:
    with running_gateway(FakeClient(), settings=Settings(gateway_port=0, gateway_token=TOKEN)) as gateway:
        allowed = gateway.call("GET", "/api/jobs/counts", headers={"Authorization": f"Bearer {TOKEN}"})
        assert allowed.status == 200
        assert gateway.call("GET", "/livez").status == 200
        assert gateway.call("GET", "/readyz").status == 200


def test_without_a_token_a_page_that_rebinds_its_name_to_loopback_gets_nothing() -> None:
    with running_gateway(FakeClient()) as gateway:
        answer = gateway.call("GET", "/api/jobs/counts", headers={"Host": "evil.example:8420"})
        assert (answer.status, answer.body["code"]) == (421, "unknown_host")
        assert gateway.call("GET", "/api/jobs/counts", headers={"Host": "localhost:8420"}).status == 200
