from __future__ import annotations

import pytest

from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import running_gateway


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/api/nothing/%2e%2e/%00", 404, "not_found"),
        ("PUT", "/api/jobs", 405, "method_not_allowed"),
        ("DELETE", "/livez", 405, "method_not_allowed"),
        ("DELETE", "/api/jobs/counts", 405, "method_not_allowed"),
    ],
)
def test_what_the_table_does_not_hold_is_a_problem(method: str, path: str, status: int, code: str) -> None:
    with running_gateway(FakeClient()) as gateway:
        answer = gateway.call(method, path)
    assert (answer.status, answer.body["code"]) == (status, code)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert ("Allow" in answer.headers) == (status == 405)


def test_a_name_in_an_address_may_have_braces() -> None:
    with running_gateway(FakeClient()) as gateway:
        answer = gateway.call("DELETE", "/api/queues/%7B%7B7%2F7%7D%7D/limits?burst=1")
        below = gateway.call("GET", "/api/jobs/%7B%7D/why")
    assert (answer.status, answer.body["errors"][0]["path"]) == (422, "query.burst")
    assert (below.status, below.body["code"]) == (404, "unknown_job")


def test_head_answers_as_get_does_without_a_body() -> None:
    with running_gateway(FakeClient()) as gateway:
        answer = gateway.call("HEAD", "/livez")
    assert (answer.status, answer.body) == (200, None)


def test_options_tells_the_methods_of_an_address() -> None:
    with running_gateway(FakeClient()) as gateway:
        answer = gateway.call("OPTIONS", "/livez")
    assert (answer.status, answer.body, answer.headers["Allow"]) == (204, None, "GET, HEAD, OPTIONS")


def test_the_answer_does_not_say_which_software_runs() -> None:
    with running_gateway(FakeClient()) as gateway:
        for path in ["/livez", "/nowhere"]:
            assert gateway.call("GET", path).headers["Server"] == "leasehold"
