from __future__ import annotations

import pytest

from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import running_gateway


@pytest.mark.parametrize("path", ["/api/jobs/counts", "/livez", "/nowhere", "/api/jobs/1"])
def test_every_answer_says_what_a_browser_may_not_do_with_it(path: str) -> None:
    with running_gateway(FakeClient()) as gateway:
        headers = gateway.call("GET", path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Request-Id"]


@pytest.mark.parametrize("given", ["abc-1.2:3", "x" * 128])
def test_an_id_that_can_be_spoken_is_kept(given: str) -> None:
    with running_gateway(FakeClient()) as gateway:
        answer = gateway.call("GET", "/api/jobs/1", headers={"X-Request-Id": given})
    assert (answer.headers["X-Request-Id"], answer.body["request_id"]) == (given, given)


@pytest.mark.parametrize("given", ["", "x" * 129, "a b", "<script>", "a;b", "\xe9"])
def test_any_other_is_replaced(given: str) -> None:
    with running_gateway(FakeClient()) as gateway:
        answer = gateway.call("GET", "/api/jobs/1", headers={"X-Request-Id": given})
    assert answer.headers["X-Request-Id"] != given
    assert answer.headers["X-Request-Id"] == answer.body["request_id"]
