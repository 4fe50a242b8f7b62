"""`/api/failures…` with a real database behind it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.conftest import Psql
from tests.gateway.fakes.failing import fail_jobs
from tests.gateway.fakes.running import RunningGateway

Fail = Callable[..., list[int]]


@pytest.fixture
def fail(gateway: RunningGateway, database_url: str, psql: Psql) -> Fail:
    return partial(fail_jobs, psql, database_url, gateway)


def groups(gateway: RunningGateway, **query: Any) -> list[dict[str, Any]]:
    return gateway.done("GET", f"/api/failures?{urlencode(query)}")["items"]


def test_failures_are_grouped_by_fingerprint(gateway: RunningGateway, fail: Fail) -> None:
    ids = fail("pay", jobs=3)
    fail("mail")
    mail, pay = groups(gateway)
    assert (mail["kind"], pay["kind"]) == ("mail", "pay")
    assert (pay["failures"], pay["failed_jobs"], pay["error_type"], pay["place"]) == (
        3,
        3,
        "ValueError",
        "shop.py:7 in pay",
    )
    assert (sum(pay["counts"]), len(pay["counts"]), pay["is_partial"]) == (3, 24, False)
    assert [each["kind"] for each in groups(gateway, kind="pay")] == ["pay"]
    assert groups(gateway, queue="other") == []
    shown = gateway.call("GET", f"/api/failures/{pay['fingerprint']}?limit=2").body
    assert shown["group"]["failures"] == 3
    assert [each["job_id"] for each in shown["failures"]] == ids[:0:-1]
    assert shown["failures"][0]["message"] == "ValueError: boom (shop.py:7 in pay)"


def test_a_time_without_failures_has_no_groups(gateway: RunningGateway, fail: Fail) -> None:
    fail("pay")
    (group,) = groups(gateway)
    times = {"since": "2020-01-01T00:00:00Z", "until": "2020-01-02T00:00:00Z"}
    assert groups(gateway, **times) == []
    shown = gateway.call("GET", f"/api/failures/{group['fingerprint']}?{urlencode(times)}").body
    assert shown == {"group": None, "failures": []}


def test_the_jobs_of_a_group_are_retried_after_a_trial(gateway: RunningGateway, fail: Fail) -> None:
    ids = fail("pay", jobs=3)
    other = fail("pay", "KeyError")
    group = next(each for each in groups(gateway) if each["error_type"] == "ValueError")
    path = f"/api/failures/{group['fingerprint']}/retry"
    trial = gateway.call("POST", path, {}).body
    assert (trial["dry_run"], trial["changed"], trial["skipped"], trial["is_limited"]) == (True, 3, 0, False)
    assert gateway.call("GET", f"/api/jobs/{ids[0]}").body["state"] == "failed"
    few = gateway.call("POST", path, {"limit": 2}).body
    assert ([each["job_id"] for each in few["items"]], few["is_limited"]) == (ids[1:], True)
    done = gateway.call("POST", path, {"dry_run": False}).body
    assert [each["job_id"] for each in done["items"] if each["changed"]] == ids
    assert gateway.call("GET", f"/api/jobs/{ids[0]}").body["state"] == "pending"
    assert gateway.call("GET", f"/api/jobs/{other[0]}").body["state"] == "failed"
    assert gateway.call("POST", path, {"dry_run": False}).body["changed"] == 0


def test_what_cannot_be_asked_is_refused(gateway: RunningGateway) -> None:
    for query in ("since=2020-01-02T00:00:00Z&until=2020-01-02T00:00:00Z", "since=yesterday", "limit=0"):
        assert gateway.call("GET", f"/api/failures?{query}").body["code"] == "invalid_input"
    assert gateway.call("GET", f"/api/failures/{'0' * 16}").body["group"] is None
    assert gateway.call("GET", "/api/failures/xyz").status in (404, 422)
