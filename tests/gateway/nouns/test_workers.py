"""`/api/workers…` with a real database behind it."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from tests.conftest import Psql
from tests.gateway.fakes.running import RunningGateway

INCARNATION = "5f0c6a3e-8a1e-4d7b-9a53-0f0c5f3d9b10"


def beat(gateway: RunningGateway, worker_id: str = "go-1", **fields: Any) -> Any:
    return gateway.done("POST", f"/api/workers/{worker_id}/heartbeat", {"incarnation": INCARNATION, **fields})


def tell(gateway: RunningGateway, command: str, worker: str = "go-1", **args: int) -> Any:
    answer = gateway.call("POST", f"/api/workers/{worker}/commands", {"command": command, "args": args})
    assert answer.status == 202, answer.body
    assert answer.headers["Location"] == f"/api/workers/{INCARNATION}/commands/{answer.body['id']}"
    return answer.body


def test_a_worker_in_another_language_registers_with_its_first_heartbeat_and_is_shown(gateway: RunningGateway) -> None:
    first = beat(gateway, queues=["mail"], kinds=["send"], slots=4, host="box", pid=7, version="go 1", app_version="9",
                 memory_limit=2**30, cpu_limit=2)  # fmt: skip
    assert first["registered"]
    assert beat(gateway, active_jobs=2, slots=4, memory=0.25, cpu=0.5) == {
        "registered": False,
        "name": None,
        "commands": [],
    }
    [worker] = gateway.call("GET", "/api/workers").body["items"]
    assert worker["name"] == first["name"]
    shown = {
        name: worker[name]
        for name in ("worker_id", "queues", "kinds", "slots", "host", "pid", "version", "app_version")
    }
    assert shown == {
        "worker_id": "go-1",
        "queues": ["mail"],
        "kinds": ["send"],
        "slots": 4,
        "host": "box",
        "pid": 7,
        "version": "go 1",
        "app_version": "9",
    }
    assert (worker["state"], worker["memory"], worker["cpu"], worker["memory_limit"]) == ("ready", 0.25, 0.5, 2**30)
    for called in ("go-1", "go", first["name"], INCARNATION[:8]):
        assert gateway.call("GET", f"/api/workers/{called}").body["incarnation"] == INCARNATION


def test_a_worker_that_says_good_bye_is_listed_only_when_asked_for(gateway: RunningGateway) -> None:
    beat(gateway)
    beat(gateway, state="stopped")
    assert gateway.call("GET", "/api/workers").body == {"items": [], "next": None}
    [worker] = gateway.call("GET", "/api/workers?stopped=true").body["items"]
    assert worker["state"] == "stopped"
    refused = gateway.call("POST", "/api/workers/go-1/commands", {"command": "pause"})
    assert (refused.status, refused.body["code"]) == (409, "wrong_state")


def test_commands_come_with_the_heartbeat_until_they_are_acknowledged(gateway: RunningGateway) -> None:
    beat(gateway)
    pause, scale = tell(gateway, "pause"), tell(gateway, "set_concurrency", slots=5)
    assert (pause["state"], pause["worker_id"]) == ("pending", "go-1")
    given: list[dict[str, Any]] = [
        {"id": pause["id"], "command": "pause", "args": {}},
        {"id": scale["id"], "command": "set_concurrency", "args": {"slots": 5}},
    ]
    assert beat(gateway)["commands"] == beat(gateway)["commands"] == given
    done = [{"id": pause["id"], "result": {"state": "paused"}}, {"id": scale["id"], "error": "five are too many"}]
    assert beat(gateway, state="paused", acknowledged=done)["commands"] == []
    page = gateway.call("GET", "/api/workers/go-1/commands").body
    assert [(each["state"], each["result"], each["error"]) for each in page["items"]] == [
        ("failed", None, "five are too many"),
        ("done", {"state": "paused"}, None),
    ]
    assert page["next"] is None
    page = gateway.call("GET", "/api/workers/go-1/commands?limit=1").body
    assert page["items"][0]["id"] == scale["id"]
    [last] = gateway.call("GET", f"/api/workers/go-1/commands?limit=1&cursor={page['next']}").body["items"]
    assert gateway.call("GET", f"/api/workers/go-1/commands/{pause['id']}").body == last


def test_who_asks_to_wait_waits_no_longer_than_said(gateway: RunningGateway) -> None:
    beat(gateway)
    answer = gateway.call("POST", "/api/workers/go-1/commands", {"command": "dump_stacks"}, {"Prefer": "wait=0"})
    assert (answer.status, answer.headers["Preference-Applied"]) == (202, "wait=0")


def test_what_nobody_could_mean_is_refused(gateway: RunningGateway) -> None:
    beat(gateway)
    beat(gateway, "go-2", incarnation=str(uuid4()))

    def code(method: str, path: str, body: object = None) -> tuple[int, str]:
        answer = gateway.call(method, f"/api/workers{path}", body)
        return answer.status, answer.body["code"]

    assert code("GET", "/nobody") == (404, "unknown_worker")
    assert code("GET", "/go") == (422, "invalid_input")
    assert code("GET", "/go-1/commands/77") == (404, "unknown_command")
    assert code("GET", "/go-1/commands/x") == (404, "unknown_worker")
    assert code("POST", "/nobody/commands", {"command": "pause"}) == (404, "unknown_worker")
    assert code("POST", "/go-1/commands", {"command": "dance"}) == (422, "invalid_input")
    assert code("POST", "/go-1/commands", {"command": "set_concurrency"}) == (422, "invalid_input")
    assert code("POST", "/go-1/commands", {"command": "pause", "args": {"slots": 3}}) == (422, "invalid_input")
    assert code("POST", "/go-1/heartbeat", {}) == (422, "invalid_input")
    assert code("POST", "/go-1/heartbeat", {"incarnation": "x"}) == (422, "invalid_input")
    assert code("GET", "/a%00b") == (422, "invalid_input")
    tell(gateway, "pause")
    command = gateway.call("GET", "/api/workers/go-1/commands").body["items"][0]["id"]
    assert code("GET", f"/go-2/commands/{command}") == (404, "unknown_command")


def test_leases_are_listed_with_their_ages(gateway: RunningGateway, database_url: str, psql: Psql) -> None:
    beat(gateway)
    job_id = gateway.call("POST", "/api/jobs", {"kind": "mail", "key": "shop 7"}).body["id"]
    psql(database_url, f"select leasehold.claim_jobs('{INCARNATION}', 'go-1', null, null, 1, '60 s')")
    (lease,) = gateway.call("GET", "/api/leases?worker=go-1").body["items"]
    assert (lease["job_id"], lease["state"], lease["worker_id"], lease["runs_for"]) == (job_id, "claimed", "go-1", None)
    assert 0 < lease["left"] <= 60
    assert len(gateway.call("GET", "/api/leases").body["items"]) == 1
    assert gateway.call("GET", "/api/leases?worker=nobody").status == 404
