from __future__ import annotations

from tests.gateway.fakes.running import running_service

PROXY = {"proxy": "http://proxy.example:3128", "proxy_user": "me", "proxy_password": "hunter2"}


def test_an_identity_is_added_listed_and_retired_and_nobody_sees_its_password(database_url: str) -> None:
    with running_service(database_url) as gateway:
        added = gateway.call("POST", "/api/egress", {"name": "berlin-1", "locale": "de-DE", **PROXY})
        assert (added.status, added.body) == (200, {"identity_id": 1, "name": "berlin-1"})
        [listed] = gateway.call("GET", "/api/egress").body["items"]
        assert (listed["state"], listed["proxy"], listed["time_zone"]) == ("ready", PROXY["proxy"], "Europe/Berlin")
        assert gateway.call("POST", "/api/egress/berlin-1/retire?reason=slow").body == {"changed": True}
        assert gateway.call("GET", "/api/egress").body["items"] == []
        [retired] = gateway.call("GET", "/api/egress?everything=true").body["items"]
        assert (retired["state"], retired["retire_reason"]) == ("retired", "slow")
        assert "hunter2" not in str([listed, retired, gateway.call("GET", "/api/audit").body])
        unknown = gateway.call("POST", "/api/egress/nobody/retire")
        assert (unknown.status, unknown.body["code"]) == (404, "unknown_identity")


def test_a_zone_of_another_country_is_refused(database_url: str) -> None:
    with running_service(database_url) as gateway:
        refused = gateway.call("POST", "/api/egress", {"name": "a", "locale": "de-DE", "time_zone": "Asia/Tokyo"})
        assert (refused.status, refused.body["code"]) == (422, "invalid_input")


def test_an_identity_is_tested_by_who_may_do_everything_and_reaches_nothing_inside(database_url: str) -> None:
    token = "a-token-of-at-least-32-characters"
    with running_service(database_url, gateway_token=token) as gateway:
        admin = {"Authorization": f"Bearer {token}"}
        operator = gateway.token_with(admin, "operate")
        gateway.call("POST", "/api/egress", {"name": "direct"}, admin)
        gateway.call("POST", "/api/egress", {"name": "berlin-1", "proxy": "http://127.0.0.1:1"}, admin)

        def test(name: str, url: str, headers: dict[str, str] = admin) -> tuple[int, str]:
            answer = gateway.call("POST", f"/api/egress/{name}/test", {"url": url}, headers)
            return answer.status, answer.body.get("code") or answer.body["state"]

        assert test("direct", "https://shop.example/", operator) == (
            403,
            "insufficient_scope",
        )
        assert test("direct", "http://127.0.0.1:8420/api/jobs") == (403, "address_inside")
        assert test("direct", "http://127.0.0.1:65535/") == (403, "address_inside")
        assert test("direct", "http://127.0.0.1:65536/") == (422, "invalid_input")
        assert test("direct", "file:///etc/passwd") == (422, "invalid_input")
        assert test("direct", "https://me:pw@shop.example/") == (422, "invalid_input")
        assert test("nobody", "https://shop.example/") == (409, "wrong_state")
        assert test("berlin-1", "https://shop.example/") == (200, "cooling")
        entries = gateway.call("GET", "/api/audit?action=POST%20/api/egress/%7Bname%7D/test", headers=admin).body[
            "items"
        ]
        assert entries[0]["detail"]["body"] == {"url": "https://shop.example/"}
