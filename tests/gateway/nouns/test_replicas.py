"""`/api/workers/k8s/…` with a real database and an API server with real TLS."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.fakes.kubernetes import NAME, NAMESPACE, running_kubernetes
from tests.gateway.fakes.running import RunningGateway, running_service

ADMIN = {"Authorization": "Bearer token-of-the-settings-32-characters"}
BOUNDS: Any = {"min_replicas": 1, "max_replicas": 15}
SETTINGS: Any = {"k8s_worker_statefulset": NAME, "k8s_min_replicas": 1, "k8s_max_replicas": 15}


@pytest.fixture
def gateway(database_url: str, tmp_path: Path) -> Generator[RunningGateway]:
    token = ADMIN["Authorization"].removeprefix("Bearer ")
    with (
        running_kubernetes(tmp_path) as (_, pod),
        running_service(database_url, pod=pod, gateway_token=token, **SETTINGS) as gateway,
    ):
        yield gateway


def test_replicas_are_read_and_set_and_it_is_written_down_who_did_so(gateway: RunningGateway) -> None:
    where = {"namespace": NAMESPACE, "statefulset": NAME}
    answer = gateway.call("GET", "/api/workers/k8s/replicas", headers=gateway.token_with(ADMIN, "read"))
    assert (answer.status, answer.body) == (200, {**where, "current": 3, "desired": 3, **BOUNDS})
    answer = gateway.call("POST", "/api/workers/k8s/scale", {"replicas": 10}, ADMIN)
    assert (answer.status, answer.body) == (200, {**where, "current": 3, "desired": 10, **BOUNDS})
    [act] = [
        each
        for each in gateway.call("GET", "/api/audit", headers=ADMIN).body["items"]
        if each["action"] == "POST /api/workers/k8s/scale"
    ]
    assert (act["status"], act["detail"]) == (200, {"body": {"replicas": 10}})


def test_who_may_only_operate_does_not_scale(gateway: RunningGateway) -> None:
    answer = gateway.call(
        "POST", "/api/workers/k8s/scale", {"replicas": 10}, gateway.token_with(ADMIN, "read", "operate")
    )
    assert (answer.status, answer.body["code"]) == (403, "insufficient_scope")
    assert gateway.call("GET", "/api/workers/k8s/replicas").status == 401
    assert gateway.call("GET", "/api/workers/k8s/replicas", headers=ADMIN).body["desired"] == 3


def test_a_number_that_makes_no_sense_or_is_out_of_bounds_is_refused(gateway: RunningGateway) -> None:
    cases: list[object] = [
        {},
        {"replicas": -1},
        {"replicas": "5"},
        {"replicas": 5.5},
        {"replicas": None},
        {"replicas": 0},
        {"replicas": 16},
    ]
    for body in cases:
        answer = gateway.call("POST", "/api/workers/k8s/scale", body, ADMIN)
        assert (answer.status, answer.body["code"]) == (422, "invalid_input")
        assert gateway.call("GET", "/api/workers/k8s/replicas", headers=ADMIN).body["desired"] == 3


def test_outside_kubernetes_the_answer_is_501(database_url: str) -> None:
    with running_service(database_url) as gateway:
        for answer in (
            gateway.call("GET", "/api/workers/k8s/replicas"),
            gateway.call("POST", "/api/workers/k8s/scale", {"replicas": 2}),
        ):
            assert (answer.status, answer.body["code"]) == (501, "not_in_kubernetes")
