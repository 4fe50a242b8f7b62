from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from tests.conftest import Psql
from tests.gateway.fakes.running import RunningGateway, running_service
from tests.leasehold.client.nouns.test_capacity import SEED


@pytest.fixture
def gateway(database_url: str, psql: Psql) -> Generator[RunningGateway]:
    """With ten jobs done, 62 waiting, of which one for a key, and one worker with two slots."""
    psql(database_url, SEED)
    with running_service(database_url) as gateway:
        yield gateway


def get(gateway: RunningGateway, path: str) -> Any:
    answer = gateway.call("GET", path)
    assert answer.status == 200, answer.body
    return answer.body


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
