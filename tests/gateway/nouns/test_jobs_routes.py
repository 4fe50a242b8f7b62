"""`/api/jobs…` with a real database behind it: lists, single jobs, changes."""

from __future__ import annotations

import json
from itertools import product
from typing import Any
from urllib.parse import quote

from leasehold.gateway.nouns.jobs import Field
from leasehold.records.jobs import JobRecord
from tests.conftest import Psql
from tests.gateway.fakes.failing import fail_jobs
from tests.gateway.fakes.running import RunningGateway


def make(gateway: RunningGateway, kind: str = "pay", **fields: Any) -> int:
    answer = gateway.call("POST", "/api/jobs", {"kind": kind, **fields})
    assert answer.status == 201, answer.body
    assert answer.headers["Location"] == f"/api/jobs/{answer.body['id']}"
    return answer.body["id"]


def ids(gateway: RunningGateway, query: str) -> list[int]:
    answer = gateway.call("GET", f"/api/jobs?{query}")
    assert answer.status == 200, answer.body
    return [each["id"] for each in answer.body["items"]]


def cancel(gateway: RunningGateway, job_id: int) -> None:
    assert gateway.call("POST", f"/api/jobs/{job_id}/cancel").status == 200


def test_jobs_are_listed_page_by_page_newest_first(gateway: RunningGateway) -> None:
    made = [make(gateway) for _ in range(5)]
    listed: list[int] = []
    cursor = ""
    while cursor is not None:
        page = gateway.call("GET", f"/api/jobs?limit=2{cursor and f'&cursor={cursor}'}").body
        listed += [each["id"] for each in page["items"]]
        cursor = page["next"]
    assert listed == made[::-1]


def test_filters_narrow_a_list_down(gateway: RunningGateway) -> None:
    first = make(
        gateway, queue="q", key="k", args={"shop": 7, "tags": ["a", "b"]}, metadata={"shop": 7, "platform": "x"}
    )
    second = make(gateway, "pack", delay=60)
    cancel(gateway, second)
    created = gateway.call("GET", f"/api/jobs/{second}").body["created_at"]
    for query, expected in {
        "queue=q": [first],
        "kind=pack": [second],
        "state=cancelled": [second],
        "key=k": [first],
        "worker=nobody": [],
        f"created_after={quote(created)}": [second],
        f"created_before={quote(created)}": [first],
        f"args={quote(json.dumps({'tags': ['b']}))}": [first],
        f"args={quote('{}')}": [second, first],
        f"metadata={quote(json.dumps({'shop': 7}))}": [first],
        "state=stale": [],
        "kind=pack&queue=q": [],
    }.items():
        assert ids(gateway, query) == expected, query


def test_only_the_fields_that_were_asked_for_are_answered(gateway: RunningGateway) -> None:
    job_id = make(gateway, args={"x": 1})
    whole = gateway.call("GET", f"/api/jobs/{job_id}").body
    for query, names in (
        ("fields=state&fields=kind", ["id", "state", "kind"]),
        ("fields=args,state", ["id", "args", "state"]),
        ("limit=1000&fields=key", ["id", "key"]),
        ("", list(whole)),
    ):
        assert gateway.call("GET", f"/api/jobs?{query}").body["items"] == [{name: whole[name] for name in names}]
    assert Field.__args__ == JobRecord.__struct_fields__  # pyright: ignore[reportAttributeAccessIssue]


REFUSED: list[tuple[str, str]] = [
    ("colour=red", "query.colour"),
    ("state=done", "query.state"),
    ("state=null", "query.state"),
    ("state=failed&state=cancelled", "query.state"),
    ("limit=0", "query.limit"),
    ("limit=1001", "query.limit"),
    ("limit=101", "query.limit"),
    ("limit=101&fields=id,error", "query.limit"),
    ("cursor=7", "query.cursor"),
    ("cursor=pffffffffffffffff", "query.cursor"),
    ("fields=id,colour", "query.fields[1]"),
    ("created_after=yesterday", "query.created_after"),
    ("created_after=12345", "query.created_after"),
    ("created_after=2026-01-01T00:00:00", "query.created_after"),
    ("args=[1]", "query.args"),
    ("args={", "query.args"),
    ("args=" + quote('{"a":"\\u0000"}'), "query.args.a"),
    ("args=" + quote("[" * 300), "query.args"),
]


def test_a_query_that_makes_no_sense_is_refused_with_its_name(gateway: RunningGateway) -> None:
    for query, path in REFUSED:
        answer = gateway.call("GET", f"/api/jobs?{query}")
        assert (answer.status, answer.body["code"]) == (422, "invalid_input")
        assert answer.body["errors"][0]["path"] == path


def test_a_name_of_the_path_is_refused_in_the_query(gateway: RunningGateway) -> None:
    answer = gateway.call("GET", f"/api/jobs/{make(gateway)}?id=7")
    assert (answer.status, answer.body["errors"][0]["path"]) == (422, "query.id")


def test_a_job_is_edited_cancelled_retried_and_removed(gateway: RunningGateway) -> None:
    job_id = make(gateway, delay=60)
    edited = gateway.call("PATCH", f"/api/jobs/{job_id}", {"args": {"x": 1}, "priority": 7, "reason": "they wait"})
    assert (edited.status, edited.body) == (200, {"state": "scheduled"})
    assert gateway.call("POST", f"/api/jobs/{job_id}/trigger").body == {"state": "pending"}
    cancelled = gateway.call("POST", f"/api/jobs/{job_id}/cancel?reason=no%20money")
    assert (cancelled.status, cancelled.body) == (200, {"was": "pending"})
    assert gateway.call("POST", f"/api/jobs/{job_id}/retry").body == {"state": "pending"}
    shown = gateway.call("GET", f"/api/jobs/{job_id}").body
    assert (shown["args"], shown["priority"], shown["state"]) == ({"x": 1}, 7, "pending")
    removed = gateway.call("DELETE", f"/api/jobs/{job_id}")
    assert (removed.status, removed.body) == (200, {"was": "pending"})
    assert gateway.call("GET", f"/api/jobs/{job_id}").status == 404
    timeline = gateway.call("GET", f"/api/jobs/{job_id}/timeline").body
    assert ([each["event"] for each in timeline["items"]], timeline["next"]) == (["deleted"], None)


def test_a_job_may_wait_until_a_chain_has_ended_in_any_way(gateway: RunningGateway) -> None:
    part = make(gateway)
    goes_on = make(gateway, blockers=[{"chain": part, "until": "ended"}])
    waits = make(gateway, blockers=[{"chain": part}])
    cancel(gateway, part)
    assert [gateway.call("GET", f"/api/jobs/{each}").body["state"] for each in (goes_on, waits)] == [
        "pending",
        "blocked",
    ]


def test_what_the_state_forbids_is_a_conflict(gateway: RunningGateway) -> None:
    part = make(gateway)
    whole = make(gateway, blockers=[part])
    for method, path in (
        ("POST", f"/api/jobs/{part}/retry"),
        ("POST", f"/api/jobs/{part}/trigger"),
        ("DELETE", f"/api/jobs/{part}"),
    ):
        answer = gateway.call(method, path)
        assert (answer.status, answer.body["code"]) == (409, "wrong_state"), path
    cancel(gateway, whole)
    assert gateway.call("POST", f"/api/jobs/{whole}/cancel").status == 409
    late = gateway.call("PATCH", f"/api/jobs/{whole}", {"run_at": "2030-01-01T00:00:00Z"})
    assert (late.status, late.body["code"]) == (409, "wrong_state")


def test_a_job_that_is_not_there_is_not_found(gateway: RunningGateway) -> None:
    cases: list[tuple[str, str]] = [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/cancel"),
        ("POST", "/retry"),
        ("POST", "/trigger"),
        ("GET", "/timeline"),
        ("GET", "/errors"),
        ("GET", "/why"),
        ("GET", "/logs"),
        ("GET", "/progress"),
    ]
    for method, path in cases:
        for job_id in ["99", "0", "x", "99999999999999999999"]:
            answer = gateway.call(method, f"/api/jobs/{job_id}{path}", {"priority": 1} if method == "PATCH" else None)
            assert (answer.status, answer.body["code"]) == (404, "unknown_job")


def test_an_edit_that_makes_no_sense_is_refused_with_the_field(gateway: RunningGateway) -> None:
    address = f"/api/jobs/{make(gateway)}"
    cases: list[tuple[object, str]] = [
        ({"args": [1]}, "$.args"),
        ({"priority": "high"}, "$.priority"),
        ({"run_at": "2026-01-01T00:00:00"}, "$.run_at"),
        ({"colour": "red"}, "$.colour"),
    ]
    for body, path in cases:
        answer = gateway.call("PATCH", address, body)
        assert (answer.status, answer.body["errors"][0]["path"]) == (422, path)
    nothing = gateway.call("PATCH", address, {"args": None, "reason": "why not"})
    assert (nothing.status, "give at least one of" in nothing.body["detail"]) == (422, True)


def test_the_errors_of_all_attempts_are_listed(gateway: RunningGateway, database_url: str, psql: Psql) -> None:
    healthy, [job_id] = make(gateway), fail_jobs(psql, database_url, gateway, "fail")
    assert gateway.call("GET", f"/api/jobs/{healthy}/errors").body == {"items": [], "next": None}
    [error] = gateway.call("GET", f"/api/jobs/{job_id}/errors").body["items"]
    assert (error["attempt"], error["type"], error["message"]) == (1, "ValueError", "boom")


def test_stale_jobs_are_recovered(gateway: RunningGateway, database_url: str, psql: Psql) -> None:
    make(gateway, "fail")
    psql(database_url, "select from leasehold.claim_jobs(gen_random_uuid(), 'w1', batch => 1)")
    assert gateway.call("POST", "/api/jobs/recover-stale").body == {"recovered": 0}
    psql(database_url, "update leasehold.jobs set heartbeat_at = now() - interval '1 hour'")
    assert gateway.call("POST", "/api/jobs/recover-stale?minutes=30").body == {"recovered": 1}
    unknown = gateway.call("POST", "/api/jobs/recover-stale?worker=nobody")
    assert (unknown.status, unknown.body["code"]) == (404, "unknown_worker")
    for minutes in ("0", "-1", "nan", "inf", "x"):
        assert gateway.call("POST", f"/api/jobs/recover-stale?minutes={minutes}").status == 422


# What changes many jobs, and what narrows it down, apart from what narrows all of them.
BULK = {
    "cancel": {"state": "pending"},
    "retry": {"state": "failed"},
    "trigger": {"queue": "q"},
    "delete": {"state": "failed"},
}


def test_many_jobs_are_cancelled_retried_and_removed_with_a_report_of_each(gateway: RunningGateway) -> None:
    made = [make(gateway, queue="q") for _ in range(3)]
    other = make(gateway, queue="other")
    would = gateway.call("POST", "/api/jobs/bulk/cancel", {"queue": "q"}).body
    assert (would["dry_run"], would["changed"], would["is_limited"]) == (True, 3, False)
    assert ids(gateway, "state=cancelled") == []
    done = gateway.call(
        "POST", "/api/jobs/bulk/cancel", {"ids": [*made, other, 99], "queue": "q", "reason": "stop", "dry_run": False}
    ).body
    assert (done["changed"], done["skipped"]) == (3, 2)
    assert [(each["job_id"], each["reason"]) for each in done["items"] if not each["changed"]] == [
        (other, "it is pending and does not match"),
        (99, "there is no job 99"),
    ]
    assert gateway.call("POST", "/api/jobs/bulk/retry", {"queue": "q", "dry_run": False}).body["items"] == []
    done = gateway.call(
        "POST", "/api/jobs/bulk/retry", {"state": "any", "queue": "q", "limit": 2, "dry_run": False}
    ).body
    assert (done["changed"], done["is_limited"], done["items"][0]["now"]) == (2, True, "pending")
    done = gateway.call("POST", "/api/jobs/bulk/delete", {"queue": "q", "dry_run": False}).body
    assert (done["changed"], done["skipped"]) == (3, 0)
    assert ids(gateway, "") == [other]


def test_scheduled_jobs_are_run_now_with_a_report_of_each(gateway: RunningGateway) -> None:
    soon, later = make(gateway, delay=60), make(gateway, delay=1e9)
    body: dict[str, Any] = {"run_before": "2040-01-01T00:00:00Z"}
    would = gateway.call("POST", "/api/jobs/bulk/trigger", body).body
    assert [(each["job_id"], each["now"]) for each in would["items"]] == [(soon, "pending")]
    assert ids(gateway, "state=scheduled") == [later, soon]
    done = gateway.call("POST", "/api/tasks/bulk/trigger", {"ids": [soon, 99], "dry_run": False}).body
    assert (done["changed"], done["skipped"], done["items"][1]["reason"]) == (1, 1, "there is no job 99")
    assert ids(gateway, "state=scheduled") == [later]


def test_all_that_match_is_told_by_what_finds_jobs_in_a_list(gateway: RunningGateway) -> None:
    made = [make(gateway, delay=60, args={"shop": shop}) for shop in (7, 8)]
    for what in ("trigger", "cancel", "retry", "delete"):  # each finds both, as the one before left them
        path, state = f"/api/jobs/bulk/{what}", {"state": "any"} if what == "retry" else {}
        for filters, expected in (
            ({"args": {"shop": 7}}, made[:1]),
            ({"args": {"shop": 7}, "created_after": "2020-01-01T00:00:00Z"}, made[:1]),
            ({"created_after": "2999-01-01T00:00:00Z"}, []),
            ({"created_before": "2020-01-01T00:00:00Z"}, []),
            ({"worker": "nobody"}, []),
            ({"metadata": {"state": "AZ"}}, []),
        ):
            would = gateway.call("POST", path, {**filters, **state}).body
            assert [each["job_id"] for each in would["items"]] == expected, (what, filters)
        done = gateway.call("POST", path, {"args": {"shop": 8}, **state, "dry_run": False}).body
        assert [(each["job_id"], each["changed"]) for each in done["items"]] == [(made[1], True)]
        gateway.call("POST", path, {"args": {"shop": 7}, **state, "dry_run": False})


def test_a_bulk_change_that_makes_no_sense_is_refused(gateway: RunningGateway) -> None:
    cases: list[object] = [
        {"state": "done"},
        {"ids": []},
        {"limit": 0},
        {"limit": 10_001},
        {"quene": "q"},
        {"args": {}},
        {"metadata": []},
    ]
    for what, body in product(BULK, cases):
        assert gateway.call("POST", f"/api/jobs/bulk/{what}", body).status == 422, (what, body)


def test_a_bulk_change_of_all_jobs_has_to_say_so(gateway: RunningGateway) -> None:
    narrow_nothing: list[dict[str, Any]] = [{}, {"all": False}, {"limit": 5}, {"queue": None, "ids": None}]
    own_nothing: dict[str, dict[str, Any]] = {"cancel": {"reason": "all of them"}, "retry": {"state": "any"}}
    for what, own in BULK.items():
        for body in [*narrow_nothing, own_nothing.get(what, {})]:
            answer = gateway.call("POST", f"/api/jobs/bulk/{what}", body)
            assert (answer.status, answer.body["errors"][0]["path"]) == (422, "$.all"), (what, body)
        for body in ({"all": True}, own, {"kind": "any"}, {"ids": [1]}):
            assert gateway.call("POST", f"/api/jobs/bulk/{what}", body).status == 200, (what, body)
