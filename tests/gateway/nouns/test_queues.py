"""`/api/queues…` with a real database behind it."""

from __future__ import annotations

from tests.conftest import Psql
from tests.gateway.fakes.running import RunningGateway


def test_a_queue_is_paused_and_resumed(gateway: RunningGateway) -> None:
    gateway.call("POST", "/api/jobs", {"kind": "a", "queue": "q/1"})
    paused = gateway.call("POST", "/api/queues/q%2F1/pause?reason=they%20asked")
    assert (paused.status, paused.body) == (200, {"queue": "q/1", "paused": True, "changed": True})
    [queue] = gateway.call("GET", "/api/queues").body["items"]
    assert (queue["queue"], queue["pause_reason"], queue["counts"]) == ("q/1", "they asked", {"pending": 1})
    for changed in (True, False):
        resumed = gateway.call("POST", "/api/queues/q%2F1/resume")
        assert resumed.body == {"queue": "q/1", "paused": False, "changed": changed}


def test_a_queue_is_limited_and_freed(gateway: RunningGateway) -> None:
    path = "/api/queues/q/limits"
    assert gateway.call("PUT", path, {"max_running": 3}).body == {"changed": True}
    assert gateway.call("PUT", path, {"max_running": 3}).body == {"changed": False}
    assert gateway.call("PUT", path, {"key_group": "*", "rate": 0.5, "burst": 2}).body == {"changed": True}
    limits = gateway.call("GET", path).body["items"]
    assert [(each["key_group"], each["max_running"], each["rate"]) for each in limits] == [
        ("", 3, None),
        ("*", None, 0.5),
    ]
    assert gateway.call("DELETE", f"{path}?key_group=*").body == {"changed": True}
    assert gateway.call("DELETE", f"{path}?key_group=*").body == {"changed": False}
    assert len(gateway.call("GET", path).body["items"]) == 1


def test_the_jobs_of_a_queue_age(gateway: RunningGateway) -> None:
    path = "/api/queues/q/ageing"
    for changed in (True, False):
        assert gateway.call("PUT", path, {"every": 300}).body == {"queue": "q", "every": 300, "changed": changed}
    assert gateway.call("GET", "/api/queues").body["items"][0]["ageing_seconds"] == 300
    assert gateway.call("PUT", path, {"every": None}).body == {"queue": "q", "every": None, "changed": True}
    assert [gateway.call("PUT", path, body).status for body in ({}, {"every": 0.5}, {"every": "5m"})] == [422] * 3


ROLLUPS = """
insert into leasehold.rollups
select at, 60, q, 1, 2, 3, 4, 5, 6, 1.5, 2.5, 0, array_fill(7, array[29]), array_fill(8, array[29])
  from unnest(array['q', 'r']) q, generate_series(timestamptz '2026-03-01 10:00Z', '2026-03-01 10:04Z', interval '1 minute') at;
insert into leasehold.rollup_totals
select q, '2026-03-01 10:00Z', null, 5, 10, 15, 20, 25, 30, 7.5, 12.5, array_fill(35, array[29]), array_fill(40, array[29])
  from unnest(array['q', 'r']) q;
"""


def test_what_happened_in_a_queue_is_listed_by_the_minute(
    gateway: RunningGateway, database_url: str, psql: Psql
) -> None:
    psql(database_url, ROLLUPS)
    path = "/api/queues/q/rollups"
    assert gateway.call("GET", path).body["items"] == []
    seen: list[str] = []
    cursor = ""
    while True:
        page = gateway.call("GET", f"{path}?since=2026-03-01T10:01:00Z&until=2026-03-01T10:04:00Z&limit=2{cursor}").body
        seen += [each["starts_at"][11:16] for each in page["items"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert seen == ["10:01", "10:02", "10:03"]
    [minute] = page["items"]
    assert (minute["queue"], minute["seconds"], minute["arrivals"], minute["retries"]) == ("q", 60, 1, 6)
    assert len(minute["waits"]) == len(minute["runs"]) == len(page["bounds"]) + 1
    assert gateway.call("GET", f"{path}?cursor=p7fffffffffffffff").body["items"] == []


def test_a_limit_that_makes_no_sense_and_a_name_that_no_queue_can_have_are_refused(gateway: RunningGateway) -> None:
    for body in ({}, {"rate": 0}, {"rate": 1e7}, {"max_running": -1}, {"max_running": 2**31}, {"color": 1}):
        assert gateway.call("PUT", "/api/queues/q/limits", body).status == 422
    answer = gateway.call("GET", f"/api/queues/{'x' * 201}/limits")
    assert (answer.status, answer.body["code"]) == (404, "not_found")


def test_a_queue_with_a_comma_in_its_name_is_refused(gateway: RunningGateway) -> None:
    for method, path, body in [
        ("POST", "pause", None),
        ("POST", "resume", None),
        ("PUT", "limits", {"max_running": 3}),
        ("DELETE", "limits", None),
        ("PUT", "ageing", {"every": 300}),
    ]:
        refused = gateway.call(method, f"/api/queues/a,b/{path}", body)
        assert (refused.status, "queue has a comma" in refused.body["detail"]) == (422, True), path


def test_what_a_queue_waits_for_and_its_groups_are_told(gateway: RunningGateway) -> None:
    for group in ("a", "a", "b"):
        gateway.call("POST", "/api/jobs", {"kind": "k", "queue": "q/1", "key_group": group})
    gateway.call("POST", "/api/queues/q%2F1/pause?reason=they%20asked")
    (why,) = gateway.call("GET", "/api/queues/q%2F1/why").body["items"]
    assert (why["reason"], why["facts"]["reason"]) == ("paused", "they asked")
    groups = gateway.call("GET", "/api/queues/q%2F1/groups").body["items"]
    assert [(each["key_group"], each["held"], each["pending"]) for each in groups] == [("a", 0, 2), ("b", 0, 1)]
    assert len(gateway.call("GET", "/api/queues/q%2F1/groups?limit=1").body["items"]) == 1
    assert gateway.call("GET", "/api/queues/nobody/why").body["items"] == []


def test_the_history_of_a_queue_is_answered_in_steps(gateway: RunningGateway) -> None:
    answer = gateway.call("GET", "/api/queues/q/history?hours=2&points=4")
    assert answer.status == 200
    assert {each["seconds"] for each in answer.body["items"]} <= {1800.0}
    assert gateway.call("GET", "/api/queues/q/history?hours=0").status == 422
