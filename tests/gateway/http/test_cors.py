from __future__ import annotations

from leasehold.settings import Settings
from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import Answer, running_gateway

PAGE = "https://jobs.example.org"
PREFLIGHT = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type",
}


def ask(origins: tuple[str, ...], method: str, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with running_gateway(FakeClient(), settings=Settings(gateway_port=0, gateway_cors_origins=origins)) as gateway:
        return gateway.call(method, "/api/jobs/counts" if method == "GET" else "/api/jobs", headers=named)


def cors_headers(answer: Answer) -> set[str]:
    return {name for name in answer.headers if name.startswith("Access-Control-")}


def test_by_default_no_page_may_read_anything() -> None:
    assert cors_headers(ask((), "GET", Origin=PAGE)) == set()
    preflight = ask((), "OPTIONS", Origin=PAGE, **PREFLIGHT)
    assert cors_headers(preflight) == set()


def test_a_page_of_an_allowed_origin_may_read_and_others_may_not() -> None:
    allowed = ask((PAGE,), "GET", Origin=PAGE)
    assert allowed.headers["Access-Control-Allow-Origin"] == PAGE
    assert "Origin" in allowed.headers["Vary"]
    assert "X-Request-Id" in allowed.headers["Access-Control-Expose-Headers"]
    assert "Access-Control-Allow-Credentials" not in allowed.headers
    other = ask((PAGE,), "GET", Origin="https://evil.example")
    assert cors_headers(other) == set()
    assert "Origin" in other.headers["Vary"]


def test_a_preflight_needs_no_token_and_says_what_may_be_sent() -> None:
    settings = Settings(gateway_port=0, gateway_cors_origins=(PAGE,), gateway_token="a-token-of-decent-length")
    with running_gateway(FakeClient(), settings=settings) as gateway:
        answer = gateway.call("OPTIONS", "/api/jobs", headers={"Origin": PAGE, **PREFLIGHT})
    assert answer.status == 204
    assert "POST" in answer.headers["Access-Control-Allow-Methods"]
    assert {"Authorization", "Content-Type"} <= set(answer.headers["Access-Control-Allow-Headers"].split(", "))


def test_a_refusal_may_be_read_by_the_page_too() -> None:
    settings = Settings(gateway_port=0, gateway_cors_origins=(PAGE,), gateway_token="a-token-of-decent-length")
    with running_gateway(FakeClient(), settings=settings) as gateway:
        answer = gateway.call("GET", "/api/jobs/counts", headers={"Origin": PAGE})
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (401, PAGE)


def test_a_star_allows_every_page() -> None:
    answer = ask(("*",), "GET", Origin="https://anybody.example")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
