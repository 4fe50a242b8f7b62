from __future__ import annotations

from leasehold.access.tokens import is_token
from tests.gateway.fakes.running import Answer, RunningGateway, running_service

TOKEN = "a-token-of-decent-length"


def call(gateway: RunningGateway, method: str, path: str, body: object = None, token: str = TOKEN) -> Answer:
    return gateway.call(method, path, body, {"Authorization": f"Bearer {token}"})


def test_a_token_is_made_used_listed_revoked_and_all_of_it_can_be_read_afterwards(database_url: str) -> None:
    with running_service(database_url, gateway_token=TOKEN) as gateway:
        made = call(gateway, "POST", "/api/tokens", {"name": "shop", "scopes": ["read"], "expires_in": 3600})
        secret, number = made.body["secret"], made.body["token_id"]
        assert (made.status, is_token(secret)) == (201, True)
        assert call(gateway, "GET", "/api/jobs/counts", token=secret).status == 200
        assert call(gateway, "GET", "/api/tokens", token=secret).status == 403
        [listed] = call(gateway, "GET", "/api/tokens").body["items"]
        assert (listed["name"], listed["created_by"], listed["state"]) == (
            "shop",
            "gateway_token",
            "active",
        )
        assert listed["last_used_at"] is not None
        assert secret not in str(listed)
        assert call(gateway, "DELETE", f"/api/tokens/{number}").body == {"changed": True}
        assert call(gateway, "DELETE", f"/api/tokens/{number}").body == {"changed": False}
        assert call(gateway, "GET", "/api/tokens").body["items"] == []
        assert [each["state"] for each in call(gateway, "GET", "/api/tokens?everything=true").body["items"]] == [
            "revoked"
        ]
        entries = call(gateway, "GET", "/api/audit").body["items"]
    assert [(each["actor"], each["action"], each["status"]) for each in reversed(entries)] == [
        ("gateway_token", "POST /api/tokens", 201),
        ("gateway_token", "create_token", None),
        ("gateway_token", "DELETE /api/tokens/{id}", 200),
        ("gateway_token", "revoke_token", None),
        ("gateway_token", "DELETE /api/tokens/{id}", 200),
    ]
    assert secret not in str(entries)


def test_after_the_last_token_is_revoked_loopback_is_as_before(database_url: str) -> None:
    with running_service(database_url) as gateway:
        made = gateway.call("POST", "/api/tokens", {"name": "first", "scopes": ["admin"]}).body
        admin = {"Authorization": f"Bearer {made['secret']}"}
    with running_service(database_url) as gateway:
        assert gateway.call("GET", "/api/jobs/counts").status == 401
        assert gateway.call("DELETE", f"/api/tokens/{made['token_id']}", headers=admin).status == 200
    with running_service(database_url) as gateway:
        assert gateway.call("GET", "/api/jobs/counts").status == 200
        assert gateway.call("GET", "/api/jobs/counts", headers=admin).status == 401


def test_the_audit_log_comes_in_pages(database_url: str) -> None:
    with running_service(database_url, gateway_token=TOKEN) as gateway:
        for name in ("a", "b", "c"):
            call(gateway, "POST", "/api/tokens", {"name": name, "scopes": ["read"]})
        first = call(gateway, "GET", "/api/audit?action=create_token&limit=2").body
        rest = call(gateway, "GET", f"/api/audit?action=create_token&limit=2&cursor={first['next']}").body
    assert [each["detail"]["name"] for each in first["items"] + rest["items"]] == ["c", "b", "a"]
    assert rest["next"] is None


def test_what_cannot_be_made_or_revoked_is_refused(database_url: str) -> None:
    twice = {"name": "twice", "scopes": ["read"]}
    wrong: list[dict[str, object]] = [
        {"name": "shop", "scopes": []},
        {"name": "shop", "scopes": ["root"]},
        {"name": "a b", "scopes": ["read"]},
        {"name": "shop", "scopes": ["read"], "expires_in": 0},
    ]
    with running_service(database_url, gateway_token=TOKEN) as gateway:
        assert [call(gateway, "POST", "/api/tokens", twice).status for _ in range(2)] == [201, 201]
        answers = [call(gateway, "POST", "/api/tokens", body) for body in (*wrong, twice)]
        answers.append(call(gateway, "DELETE", "/api/tokens/99"))
    assert [(answer.status, answer.body["code"]) for answer in answers] == [
        *[(422, "invalid_input")] * 4,
        (409, "wrong_state"),
        (404, "unknown_token"),
    ]
