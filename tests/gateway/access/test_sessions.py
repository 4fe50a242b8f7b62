"""Signing in and out, as a browser does it, at a gateway with a database."""

from __future__ import annotations

from http.cookies import SimpleCookie

from tests.conftest import Psql
from tests.gateway.fakes.running import Answer, RunningGateway, running_service

SECRET = "of the settings, long enough"
HOME = {"X-Leasehold-CSRF": "1"}


def sign_in(gateway: RunningGateway, token: str, **headers: str) -> Answer:
    return gateway.call("POST", "/api/session", {"token": token}, headers)


def cookie_of(answer: Answer) -> dict[str, str]:
    """The header with which a browser sends back what it was told to keep."""
    return {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}


def make_token(gateway: RunningGateway, *scopes: str) -> dict[str, object]:
    bearer = {"Authorization": f"Bearer {SECRET}"}
    return gateway.call("POST", "/api/tokens", {"name": "ada", "scopes": list(scopes)}, bearer).body


def test_a_token_becomes_a_session_with_its_scopes(database_url: str) -> None:
    with running_service(database_url, gateway_token=SECRET) as gateway:
        assert gateway.call("GET", "/api/session").body["name"] is None
        opened = sign_in(gateway, str(make_token(gateway, "read")["secret"]))
        cookie = cookie_of(opened)
        shown = gateway.call("GET", "/api/session", None, cookie).body
        assert (opened.status, shown["name"], shown["scopes"], shown["is_session"]) == (201, "ada", ["read"], True)
        assert gateway.call("GET", "/api/jobs", None, cookie).status == 200
        refused = gateway.call("POST", "/api/queues/q/pause", None, {**cookie, **HOME})
        assert (refused.status, refused.body["code"]) == (403, "insufficient_scope")
        assert gateway.call("GET", "/api/jobs").status == 401


def test_scripts_and_other_sites_do_not_get_the_cookie(database_url: str) -> None:
    with running_service(database_url, gateway_token=SECRET, gateway_session_seconds=60.0) as gateway:
        plain = SimpleCookie(sign_in(gateway, SECRET).headers["Set-Cookie"])["leasehold_session"]
        proxied = sign_in(gateway, SECRET, **{"X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "/ops/jobs"})
        behind_tls = SimpleCookie(proxied.headers["Set-Cookie"])["leasehold_session"]
    assert (plain["httponly"], plain["samesite"], plain["max-age"], plain["path"]) == (True, "Strict", "60", "/")
    assert (plain["secure"], behind_tls["secure"], behind_tls["path"]) == ("", True, "/ops/jobs/")


def test_a_change_by_a_session_needs_the_header_of_our_pages(database_url: str) -> None:
    with running_service(database_url, gateway_token=SECRET) as gateway:
        cookie = cookie_of(sign_in(gateway, SECRET))
        for headers in ({}, {**HOME, "Sec-Fetch-Site": "cross-site"}, {**HOME, "Sec-Fetch-Site": "same-site"}):
            refused = gateway.call("POST", "/api/jobs", {"kind": "a"}, {**cookie, **headers})
            assert (refused.status, refused.body["code"]) == (403, "foreign_origin")
        assert gateway.call("POST", "/api/jobs", {"kind": "a"}, {**cookie, **HOME}).status == 201


def test_signing_out_ends_the_session_everywhere(database_url: str) -> None:
    with running_service(database_url, gateway_token=SECRET) as gateway:
        cookie = cookie_of(sign_in(gateway, SECRET))
        closed = gateway.call("DELETE", "/api/session", None, {**cookie, **HOME})
        assert (closed.status, "Max-Age=0" in closed.headers["Set-Cookie"]) == (204, True)
    with running_service(database_url, gateway_token=SECRET) as another:
        assert another.call("GET", "/api/jobs", None, cookie).status == 401


def test_a_session_ends_with_its_token(database_url: str) -> None:
    with running_service(database_url, gateway_token=SECRET) as gateway:
        made = make_token(gateway, "read")
        of_token, of_settings = cookie_of(sign_in(gateway, str(made["secret"]))), cookie_of(sign_in(gateway, SECRET))
        gateway.call("DELETE", f"/api/tokens/{made['token_id']}", None, {"Authorization": f"Bearer {SECRET}"})
    with running_service(database_url, gateway_token=SECRET) as same:
        assert same.call("GET", "/api/jobs", None, of_token).status == 401
        assert same.call("GET", "/api/jobs", None, of_settings).status == 200
    with running_service(database_url, gateway_token="another one, long enough") as changed:
        assert changed.call("GET", "/api/jobs", None, of_settings).status == 401


def test_what_is_no_token_is_refused(database_url: str) -> None:
    for token in ["wrong", "lh_" + "0" * 49, "é", "ls_" + "0" * 49, "\n"]:
        with running_service(database_url, gateway_token=SECRET) as gateway:
            refused = sign_in(gateway, token)
            assert (refused.status, refused.body["code"]) == (401, "unauthorized")
            assert "Set-Cookie" not in refused.headers


def test_a_session_is_no_bearer_token(database_url: str) -> None:
    with running_service(database_url, gateway_token=SECRET) as gateway:
        secret = cookie_of(sign_in(gateway, str(make_token(gateway, "read")["secret"])))["Cookie"].partition("=")[2]
        assert gateway.call("GET", "/api/jobs", None, {"Authorization": f"Bearer {secret}"}).status == 401


def test_without_tokens_an_old_cookie_does_no_harm(database_url: str, psql: Psql) -> None:
    with running_service(database_url, gateway_token=SECRET) as gateway:
        cookie = cookie_of(sign_in(gateway, SECRET))
    psql(database_url, "delete from leasehold.api_sessions")
    with running_service(database_url) as gateway:
        shown = gateway.call("GET", "/api/session", None, cookie).body
    assert (shown["name"], shown["is_session"]) == ("anonymous", False)


def test_a_page_of_another_site_signs_nobody_in(database_url: str) -> None:
    with running_service(database_url, gateway_token=SECRET) as gateway:
        for site in ("cross-site", "same-site"):
            refused = sign_in(gateway, SECRET, **{"Sec-Fetch-Site": site})
            assert (refused.status, refused.body["code"], "Set-Cookie" in refused.headers) == (
                403,
                "foreign_origin",
                False,
            )
        for site in ("same-origin", "none"):
            assert sign_in(gateway, SECRET, **{"Sec-Fetch-Site": site}).status == 201
