from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from tests.conftest import Psql
from tests.gateway.fakes.failing import fail_jobs
from tests.gateway.fakes.running import RunningGateway, running_service
from tests.leasehold.client.nouns.test_capacity import SEED


@pytest.fixture
def gateway(database_url: str, psql: Psql) -> Generator[RunningGateway]:
    """With ten jobs done, 62 waiting, of which one for a key, and one worker with two slots."""
    psql(database_url, SEED)
    with running_service(database_url) as gateway:
        yield gateway


def get(gateway: RunningGateway, path: str) -> Any:
    return gateway.done("GET", path)


def test_capacity_is_answered_for_all_queues_and_planned_for_one(gateway: RunningGateway) -> None:
    (listed,) = get(gateway, "/api/jobs/capacity")["items"]
    plan = get(gateway, "/api/jobs/capacity/crawl?hours=0.01&hours=1&target_wait=20&more=1")
    assert plan["capacity"] == {**listed, "counted_at": plan["capacity"]["counted_at"]}
    assert plan["workers_needed"] == [{"hours": 0.01, "workers": 4}, {"hours": 1.0, "workers": 1}]
    assert plan["desired_workers"] == 7
    assert [each["name"] for each in plan["scenarios"]] == [
        "as it is",
        "one worker less",
        "+100% load",
        "as it ought to be",
    ]
    assert plan["scenarios"][0]["forecast"]["drain_seconds"] == 120.0


def test_what_goes_wrong_although_workers_work_is_answered(
    gateway: RunningGateway, database_url: str, psql: Psql
) -> None:
    assert get(gateway, "/api/troubles") == {"failing": [], "stuck_keys": [], "slow_queues": []}
    fail_jobs(psql, database_url, gateway, "charge", jobs=2)
    fail_jobs(psql, database_url, gateway, "mail", jobs=3)
    failing = get(gateway, "/api/troubles")["failing"]
    assert [(each["kind"], each["failures"], each["is_partial"]) for each in failing] == [
        ("mail", 3, False),
        ("charge", 2, False),
    ]


def test_a_scaler_gets_one_number(gateway: RunningGateway) -> None:
    path = "/api/jobs/capacity/crawl/desired"
    assert get(gateway, f"{path}?target_wait=20") == {"queue": "crawl", "desired_workers": 7}
    assert get(gateway, f"{path}?target_wait=20&max=3&slots=1")["desired_workers"] == 3
    assert get(gateway, f"{path}?target_wait=20&current=8&hysteresis=0.2")["desired_workers"] == 8
    assert get(gateway, "/api/jobs/capacity/nobody/desired?min=1")["desired_workers"] == 1


def test_what_a_queue_did_last_and_a_key_has_in_hand_is_answered(gateway: RunningGateway) -> None:
    recent = get(gateway, "/api/jobs/queues/crawl/recent?limit=3&state=completed")["items"]
    assert len(recent) == 3
    assert get(gateway, "/api/jobs/queues/crawl/last-completion") == {
        "queue": "crawl",
        "last_completed_at": recent[0]["finished_at"],
    }
    assert get(gateway, "/api/jobs/queues/nobody/last-completion")["last_completed_at"] is None
    active = get(gateway, "/api/jobs/keys/shop%201/active")["items"]
    assert [job["state"] for job in active] == ["pending", "waiting"]


REFUSED = {
    "/api/jobs/capacity/nobody": (404, "unknown_queue"),
    "/api/jobs/capacity/crawl?hours=0": (422, "invalid_input"),
    "/api/jobs/capacity/crawl?target_wait=0": (422, "invalid_input"),
    "/api/jobs/capacity/crawl?more=-1": (422, "invalid_input"),
    "/api/jobs/capacity/crawl/desired?min=5&max=4": (422, "invalid_input"),
    "/api/jobs/capacity/crawl/desired?hysteresis=1": (422, "invalid_input"),
    "/api/jobs/queues/crawl/recent?limit=0": (422, "invalid_input"),
    "/api/jobs/queues/crawl/recent?state=pending": (422, "invalid_input"),
    "/api/jobs/keys/x/active?limit=101": (422, "invalid_input"),
}


def test_what_cannot_be_answered_is_refused(gateway: RunningGateway) -> None:
    answers = {path: gateway.call("GET", path) for path in REFUSED}
    assert {path: (answer.status, answer.body["code"]) for path, answer in answers.items()} == REFUSED


def test_what_becomes_of_a_queue_with_other_workers_is_answered(gateway: RunningGateway) -> None:
    found = get(gateway, "/api/jobs/capacity/crawl/what-if?workers=3&more=1&target_wait=20")
    assert (found["present"]["workers"], found["supposed"]["workers"], found["desired_workers"]) == (1, 3, 7)
    assert found["present"]["forecast"]["drain_seconds"] == 120.0
    assert found["supposed"]["forecast"]["drain_seconds"] < 120.0
    assert gateway.call("GET", "/api/jobs/capacity/nobody/what-if").status == 404
    assert gateway.call("GET", "/api/jobs/capacity/crawl/what-if?more=-2").status == 422


def test_the_forecast_is_answered_against_what_happened(gateway: RunningGateway) -> None:
    found = get(gateway, "/api/jobs/capacity/crawl/hindsight")
    assert (found["queue"], found["past"], found["ahead"][0]["backlog"]) == ("crawl", [], 61.0)
    assert gateway.call("GET", "/api/jobs/capacity/nobody/hindsight").status == 404
    assert gateway.call("GET", "/api/jobs/capacity/crawl/hindsight?hours=25").status == 422
