from __future__ import annotations

from typing import cast

import pytest

from leasehold.access.tokens import make_session, make_token
from leasehold.errors import SettingsError
from leasehold.gateway.access.guard import check_binding, check_tokens, host_name, is_loopback
from leasehold.gateway.access.identities import Identity, Scope, scopes_of
from leasehold.gateway.access.token_cache import TokenCache
from leasehold.settings import Settings
from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import RunningGateway, run, running_gateway
from tests.gateway.fakes.tokens import FakeTokens

TOKEN = "a-token-of-decent-length"


def stopped() -> float:
    """A clock for the guard, so that what was used up stays so however slow the machine is."""
    return 1000.0


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "LocalHost."])
def test_loopback_needs_no_token(host: str) -> None:
    check_binding(Settings(gateway_host=host))
    run(check_tokens(Settings(gateway_host=host), cast("TokenCache", FakeTokens())))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.7", "gateway.example", "localhost.example"])
def test_another_address_is_refused_without_any_token_and_the_error_says_what_to_do(host: str) -> None:
    none, one = cast("TokenCache", FakeTokens()), cast("TokenCache", FakeTokens({make_token(): Identity(name="ci")}))
    with pytest.raises(SettingsError, match=r"leasehold tokens create NAME.*LEASEHOLD_GATEWAY_TOKEN"):
        run(check_tokens(Settings(gateway_host=host), none))
    run(check_tokens(Settings(gateway_host=host), one))
    run(check_tokens(Settings(gateway_host=host, gateway_token=TOKEN), none))


@pytest.mark.parametrize(
    "origin", ["example.org", "https://example.org/", "ftp://x", "https://a@b", "null", "https://EX.org"]
)
def test_what_no_browser_would_send_is_no_origin_to_allow(origin: str) -> None:
    with pytest.raises(SettingsError, match="is no origin"):
        check_binding(Settings(gateway_cors_origins=(origin,)))


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


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def counts(gateway: RunningGateway, token: str) -> int:
    return gateway.call("GET", "/api/jobs/counts", headers=bearer(token)).status


@pytest.mark.parametrize(
    ("names", "allowed"),
    [
        (["enqueue"], {Scope.ENQUEUE}),
        (["read"], {Scope.READ}),
        (["operate"], {Scope.OPERATE, Scope.READ}),
        (["admin"], set(Scope)),
        (["enqueue", "read"], {Scope.ENQUEUE, Scope.READ}),
    ],
)
def test_a_scope_allows_itself_and_what_it_includes(names: list[str], allowed: set[Scope]) -> None:
    assert scopes_of(names) == allowed


def test_a_token_without_the_scope_is_refused_and_told_which_one_it_lacks() -> None:
    token = make_token()
    store = FakeTokens({token: Identity(name="shop", scopes=scopes_of(["enqueue"]))})
    with running_gateway(FakeClient(), tokens=store) as gateway:
        assert gateway.call("POST", "/api/jobs", {"kind": "a"}, bearer(token)).status == 201
        refused = gateway.call("GET", "/api/jobs/counts", headers=bearer(token))
    assert (refused.status, refused.body["code"]) == (403, "insufficient_scope")
    assert 'error="insufficient_scope", scope="read"' in refused.headers["WWW-Authenticate"]
    assert "shop" in refused.body["detail"]


def test_a_token_of_the_wrong_shape_is_refused_without_asking_anybody() -> None:
    store = FakeTokens()
    wrong = make_token()
    wrong = wrong[:-1] + ("a" if wrong[-1] != "a" else "b")
    with running_gateway(FakeClient(), tokens=store) as gateway:
        answer = gateway.call("GET", "/api/jobs/counts", headers=bearer(wrong))
        assert counts(gateway, "lh_short") == 401
    assert answer.status == 401
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    assert store.asked == []


def test_once_there_is_a_token_nobody_comes_in_without_one() -> None:
    store = FakeTokens()
    with running_gateway(FakeClient(), tokens=store) as gateway:
        assert gateway.call("GET", "/api/jobs/counts").status == 200
        store.tokens[make_token()] = Identity(name="first")
        assert gateway.call("GET", "/api/jobs/counts").status == 401


def test_the_token_of_the_settings_may_do_everything_beside_the_others() -> None:
    store = FakeTokens({make_token(): Identity(name="ci", scopes=scopes_of(["read"]))})
    settings = Settings(gateway_port=0, gateway_token=TOKEN)
    with running_gateway(FakeClient(), settings=settings, tokens=store) as gateway:
        assert counts(gateway, TOKEN) == 200
        assert gateway.call("POST", "/api/jobs", {"kind": "a"}, bearer(TOKEN)).status == 201


@pytest.mark.parametrize("remembers", [True, False])
def test_wrong_tokens_are_slowed_down_and_good_ones_from_the_same_address_go_on(remembers: bool) -> None:
    good, unknown_yet = make_token(), make_token()
    store = FakeTokens({good: Identity(name="ci"), unknown_yet: Identity(name="new")})
    store.remembers = remembers
    with running_gateway(FakeClient(), tokens=store, clock=stopped) as gateway:
        assert counts(gateway, good) == 200
        statuses = [counts(gateway, make_token()) for _ in range(12)]
        late = gateway.call("GET", "/api/jobs/counts", headers=bearer(make_token()))
        assert counts(gateway, good) == 200
        assert counts(gateway, unknown_yet) == 200
    assert statuses == [401] * 10 + [429] * 2
    assert late.body["code"] == "too_many_failures"
    assert late.headers["Retry-After"] == "6"


def test_noise_uses_nothing_up_and_is_never_too_much() -> None:
    store = FakeTokens()
    settings = Settings(gateway_port=0, gateway_token=TOKEN)
    with running_gateway(FakeClient(), tokens=store, settings=settings, clock=stopped) as gateway:
        assert [counts(gateway, f"lh_noise{number}") for number in range(15)] == [401] * 15
        assert store.asked == []
        assert [counts(gateway, make_token()) for _ in range(11)] == [401] * 10 + [429]
        assert counts(gateway, "lh_noise") == 401
        assert counts(gateway, TOKEN) == 200


def test_while_the_database_is_away_metrics_are_there_for_tokens_that_were_good() -> None:
    good, enqueuer, never_seen = make_token(), make_token(), make_token()
    identities = {name: Identity(name="ci", scopes=scopes_of(["read"])) for name in (good, never_seen)}
    store = FakeTokens({**identities, enqueuer: Identity(name="shop", scopes=scopes_of(["enqueue"]))})
    store.remembers = False
    with running_gateway(FakeClient(), tokens=store) as gateway:
        assert counts(gateway, good) == 200
        assert counts(gateway, enqueuer) == 403
        store.is_away = True
        assert metrics_status(gateway, good) == 200
        assert metrics_status(gateway, enqueuer) == 403
        assert metrics_status(gateway, never_seen) == 503
        assert metrics_status(gateway, "lh_noise") == 401
        assert counts(gateway, good) == 503


def metrics_status(gateway: RunningGateway, token: str) -> int:
    return gateway.fetch("/metrics", bearer(token)).status


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_without_tokens_a_page_of_the_web_changes_nothing(method: str) -> None:
    headers = {"Origin": "https://evil.example"}
    with running_gateway(FakeClient()) as gateway:
        answer = gateway.call(method, "/api/chains/1" + ("/cancel" if method == "POST" else ""), headers=headers)
        own = {"Origin": gateway.url()}
        assert gateway.call("POST", "/api/jobs", {"kind": "a"}, own).status == 201
        assert gateway.call("POST", "/api/jobs", {"kind": "a"}, headers).status == 403
    assert (answer.status, answer.body["code"]) == (403, "foreign_origin")


@pytest.mark.parametrize("header", ["Forwarded", "Via", "X-Forwarded-For", "X-Real-IP"])
def test_without_tokens_nobody_is_served_through_a_proxy_that_says_so(header: str) -> None:
    with running_gateway(FakeClient()) as gateway:
        answer = gateway.call("GET", "/api/jobs/counts", headers={header: "for=203.0.113.7"})
        assert gateway.call("GET", "/api/jobs/counts", headers={"X-Forwarded-Prefix": "/ops"}).status == 200
    assert (answer.status, answer.body["code"]) == (401, "unauthorized")


def test_a_browser_whose_session_has_ended_is_told_so_however_often_it_asks() -> None:
    cookie = {"Cookie": f"leasehold_session={make_session()}", "X-Leasehold-CSRF": "1"}
    store = FakeTokens({make_token(): Identity(name="ci")})
    with running_gateway(FakeClient(), tokens=store, clock=stopped) as gateway:
        assert [gateway.call("GET", "/api/jobs/counts", headers=cookie).status for _ in range(12)] == [401] * 12
        assert [counts(gateway, make_token()) for _ in range(11)] == [401] * 10 + [429]
