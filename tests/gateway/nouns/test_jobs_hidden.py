"""What tokens that may only look are not shown, with a real database behind it."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.gateway.fakes.running import RunningGateway, running_service

SECRET = "of the settings, long enough"
BEARER = {"Authorization": f"Bearer {SECRET}"}
ARGS = {"order": 7, "login": {"user": "ada", "password": "pass-42"}}


@pytest.fixture
def gateway(database_url: str) -> Generator[RunningGateway]:
    with running_service(database_url, gateway_token=SECRET) as gateway:
        yield gateway


def make(gateway: RunningGateway) -> int:
    body = {"kind": "pay", "key": "shop", "delay": 3600, "args": ARGS, "metadata": {"api_key": "meta-42"}}
    return gateway.call("POST", "/api/jobs", body, BEARER).body["id"]


def test_no_answer_has_what_is_hidden_for_who_may_only_look(gateway: RunningGateway) -> None:
    job_id = make(gateway)
    gateway.call("PATCH", f"/api/jobs/{job_id}", {"args": ARGS | {"order": 8}}, BEARER)
    reader = gateway.token_with(BEARER, "read", "enqueue")
    job = gateway.call("GET", f"/api/jobs/{job_id}", headers=reader).body
    assert job["args"] == {"order": 8, "login": {"user": "ada", "password": "[hidden]"}}
    assert job["metadata"] == {"api_key": "[hidden]"}
    paths = ["", "/why", "/timeline", "/errors", "/logs", "/blockers"]
    addresses = ["/api/jobs", f"/api/chains/{job_id}", f"/api/chains/{job_id}/jobs", "/api/jobs/keys/shop/active"]
    for path in [*(f"/api/jobs/{job_id}{each}" for each in paths), *addresses]:
        answer = gateway.call("GET", path, headers=reader)
        assert answer.status == 200, path
        assert "-42" not in str(answer.body), path
    (listed,) = gateway.call("GET", "/api/jobs?fields=args", headers=reader).body["items"]
    assert listed["args"]["login"]["password"] == "[hidden]"


def test_what_is_hidden_cannot_be_found_by_guessing(gateway: RunningGateway) -> None:
    make(gateway)
    reader = gateway.token_with(BEARER, "read")
    guess = "/api/jobs?args=%7B%22login%22:%7B%22password%22:%22pass-42%22%7D%7D"
    assert gateway.call("GET", guess, headers=reader).body["errors"][0]["path"] == "query.args"
    assert len(gateway.call("GET", guess, headers=BEARER).body["items"]) == 1
    assert len(gateway.call("GET", "/api/jobs?args=%7B%22order%22:7%7D", headers=reader).body["items"]) == 1


def test_the_settings_name_the_keys(database_url: str) -> None:
    with running_service(database_url, gateway_token=SECRET, gateway_hidden_keys=("order",)) as gateway:
        job_id = make(gateway)
        args = gateway.call("GET", f"/api/jobs/{job_id}", headers=gateway.token_with(BEARER, "read")).body["args"]
        assert args == {"order": "[hidden]", "login": ARGS["login"]}


def test_the_settings_name_keys_of_one_kind(database_url: str) -> None:
    with running_service(database_url, gateway_token=SECRET, gateway_hidden_keys_by_kind=("pay:order",)) as gateway:
        job_id = make(gateway)
        other = gateway.call("POST", "/api/jobs", {"kind": "ship", "args": ARGS}, BEARER).body["id"]
        gateway.call("PATCH", f"/api/jobs/{job_id}", {"args": ARGS | {"order": 42_000_000}}, BEARER)
        reader = gateway.token_with(BEARER, "read")
        paths = [
            f"/api/jobs/{job_id}",
            f"/api/jobs/{job_id}/timeline",
            f"/api/chains/{job_id}",
            "/api/jobs?fields=args",
        ]
        for path in paths:
            answer = gateway.call("GET", path, headers=reader)
            assert (answer.status, "42000000" in str(answer.body)) == (200, False), path
        assert gateway.call("GET", f"/api/jobs/{job_id}", headers=reader).body["args"]["order"] == "[hidden]"
        args = gateway.call("GET", f"/api/jobs/{other}", headers=reader).body["args"]
        assert args == {"order": 7, "login": {"user": "ada", "password": "[hidden]"}}
        assert gateway.call("GET", "/api/jobs?args=%7B%22order%22:7%7D", headers=reader).status == 422
