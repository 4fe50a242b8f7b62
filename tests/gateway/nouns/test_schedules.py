"""`/api/schedules…` with a real database behind it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from leasehold.app import App
from tests.gateway.access.test_audit_log import call, prepare
from tests.gateway.fakes.running import RunningGateway, running_service

NIGHTLY = {"name": "nightly", "kind": "clean_up", "args": {"days": 30}, "cron": "0 3 * * *", "zone": "Europe/Berlin"}


def make(gateway: RunningGateway, name: str = "nightly", **fields: Any) -> dict[str, Any]:
    return gateway.done("POST", "/api/schedules", {**NIGHTLY, "name": name, **fields})


def refused(gateway: RunningGateway, method: str, path: str, body: object = None) -> tuple[int, str, str]:
    answer = gateway.call(method, path, body)
    return answer.status, answer.body["code"], answer.body["detail"]


def test_a_schedule_is_made_read_changed_and_removed(gateway: RunningGateway) -> None:
    answer = gateway.call("POST", "/api/schedules", NIGHTLY)
    assert (answer.status, answer.headers["Location"]) == (201, "/api/schedules/nightly")
    made = answer.body
    assert {name: made[name] for name in NIGHTLY} == NIGHTLY
    assert (made["updated_by"], made["revision"], made["enabled"]) == ("anonymous", 1, True)
    assert refused(gateway, "POST", "/api/schedules", NIGHTLY)[:2] == (409, "wrong_state")
    assert gateway.call("GET", f"/api/schedules/{made['id']}").body == made
    changed = gateway.call("PATCH", "/api/schedules/nightly", {"every": 3600, "missed": "skip"}).body
    assert (changed["every"], changed["cron"], changed["missed"], changed["args"]) == (3600, None, "skip", {"days": 30})
    assert gateway.call("PATCH", "/api/schedules/nightly", {"missed": None}).body["missed"] == "coalesce"
    assert gateway.call("DELETE", "/api/schedules/nightly").body == {"deleted": "nightly"}
    for method in ("GET", "DELETE"):
        assert refused(gateway, method, "/api/schedules/nightly")[:2] == (404, "unknown_schedule")


def test_a_put_makes_a_schedule_and_then_replaces_all_that_it_says(gateway: RunningGateway) -> None:
    body = {**NIGHTLY, "stagger": 60, "overlap": "skip", "enabled": False, "priority": 5}
    made = gateway.call("PUT", "/api/schedules/nightly", body).body
    assert {name: made[name] for name in body} == body
    replaced = gateway.call("PUT", f"/api/schedules/{made['id']}?revision=1", NIGHTLY).body
    assert (replaced["id"], replaced["stagger"], replaced["overlap"]) == (made["id"], 0, "allow")
    status, code, detail = refused(gateway, "PUT", "/api/schedules/nightly?revision=1", body)
    assert (status, code) == (409, "wrong_state")
    assert "has revision 2 by now, not 1" in detail
    other = refused(gateway, "PUT", f"/api/schedules/{made['id']}", {**NIGHTLY, "name": "other"})
    assert other[:2] == (422, "invalid_input")
    assert refused(gateway, "PUT", "/api/schedules/x?revision=1", {**NIGHTLY, "name": "x"})[0] == 404
    assert refused(gateway, "PUT", "/api/schedules/99", NIGHTLY)[0] == 404


def test_a_name_may_have_most_characters(gateway: RunningGateway) -> None:
    names = ["a b", "ä?x=1#y", "%2F", "'; drop table x; --", '<b>"', "..."]
    for name in names:
        make(gateway, name)
        path = f"/api/schedules/{quote(name, safe='')}"
        assert gateway.call("GET", path).body["name"] == name
        assert gateway.call("POST", f"{path}/disable").body["changed"] is True
    assert {each["name"] for each in gateway.call("GET", "/api/schedules").body["items"]} == set(names)


WRONG: list[tuple[dict[str, Any], str | None, str]] = [
    ({"cron": None}, None, "give one of every, cron, at"),
    ({"cron": "61 * * * *"}, None, "cron expression '61 * * * *': Bad minute"),
    ({"cron": None, "every": 0.5}, "$.every", ">= 1.0"),
    ({"name": "a\nb"}, "$.name", "regex"),
    ({"name": "34"}, None, "name must not be all digits"),
    ({"name": ""}, "$.name", "length >= 1"),
    ({"missed": "maybe"}, "$.missed", "maybe"),
    ({"at": "2030-01-01T00:00:00", "cron": None}, "$.at", "timezone"),
    ({"query": "select 1 as a; drop table x"}, None, "query"),
    ({"query": "select no_such_column from nothing"}, None, "nothing"),
    ({"croon": "x"}, "$.croon", "croon"),
]


def test_what_is_no_schedule_is_refused_at_the_border(gateway: RunningGateway) -> None:
    for fields, path, said in WRONG:
        body = {name: value for name, value in {**NIGHTLY, **fields}.items() if value is not None}
        for address in ("/api/schedules", "/api/schedules/preview"):
            answer = gateway.call("POST", address, body)
            assert (answer.status, answer.body["code"]) == (422, "invalid_input"), (fields, answer.body)
            assert said in answer.body["detail"]
            assert path is None or answer.body["errors"][0]["path"] == path
    assert gateway.call("GET", "/api/schedules").body["items"] == []


def test_schedules_are_listed_page_by_page(gateway: RunningGateway) -> None:
    for name, fields in (("a", {"queue": "slow"}), ("ä", {"enabled": False}), ("b", {"kind": "other"})):
        make(gateway, name, **fields)
    first = gateway.call("GET", "/api/schedules?limit=2").body
    assert [each["name"] for each in first["items"]] == ["a", "b"]
    second = gateway.call("GET", f"/api/schedules?limit=2&cursor={first['next']}").body
    assert ([each["name"] for each in second["items"]], second["next"]) == (["ä"], None)
    for query, names in (("enabled=false", ["ä"]), ("kind=other", ["b"]), ("queue=slow", ["a"])):
        assert [each["name"] for each in gateway.call("GET", f"/api/schedules?{query}").body["items"]] == names
    for cursor in ("!", "AA", "bm8="):
        assert refused(gateway, "GET", f"/api/schedules?cursor={cursor}")[:2] == (422, "invalid_input")


def test_enabling_and_disabling_tell_whether_they_changed_anything(gateway: RunningGateway) -> None:
    make(gateway)
    for verb, enabled, changed in (("disable", False, True), ("disable", False, False), ("enable", True, True)):
        answer = gateway.call("POST", f"/api/schedules/nightly/{verb}")
        assert answer.body == {"schedule": "nightly", "enabled": enabled, "changed": changed}
    for verb in ("enable", "disable", "trigger", "reset"):
        assert refused(gateway, "POST", f"/api/schedules/none/{verb}")[:2] == (404, "unknown_schedule")
    assert refused(gateway, "POST", "/api/schedules/nightly/reset")[:2] == (409, "wrong_state")


def test_firing_by_hand_makes_a_job_for_each_row_and_stands_in_the_history(gateway: RunningGateway) -> None:
    make(gateway, "crawl", kind="crawl", query="select g as shop from generate_series(1, 3) g")
    fired = gateway.call("POST", "/api/schedules/crawl/trigger").body
    assert (fired["job_count"], fired["is_new"]) == (3, True)
    assert gateway.call("GET", f"/api/jobs/{fired['job_ids'][2]}").body["args"] == {"days": 30, "shop": 3}
    generated = gateway.call("POST", "/api/jobs/generate/crawl?date=2030-01-31&batches=2").body
    again = gateway.call("POST", "/api/tasks/generate/crawl?date=2030-01-31").body
    assert again == {**generated, "is_new": False}
    history = gateway.call("GET", "/api/schedules/crawl/history?limit=1").body
    assert [(each["origin"], each["outcome"]) for each in history["items"]] == [("generate", "fired")]
    older = gateway.call("GET", f"/api/schedule-history?cursor={history['next']}&outcome=fired").body["items"]
    assert [(each["origin"], each["job_ids"]) for each in older] == [("trigger", fired["job_ids"])]
    assert refused(gateway, "POST", "/api/jobs/generate/crawl?date=someday")[:2] == (422, "invalid_input")
    assert refused(gateway, "POST", "/api/jobs/generate/none")[:2] == (404, "unknown_schedule")
    assert refused(gateway, "GET", "/api/schedules/none/history")[:2] == (404, "unknown_schedule")


def test_the_next_ticks_tell_what_the_clocks_do(gateway: RunningGateway) -> None:
    make(gateway, cron="30 2 * * *", enabled=False)
    path = "preview?count=3&after=2030-03-30T00:00:00Z"
    shown = gateway.call("GET", f"/api/schedules/nightly/{path}").body
    assert shown["enabled"] is False
    assert [(each["local"], each["note"], each["clock_change"]) for each in shown["ticks"]] == [
        ("2030-03-30T02:30:00+01:00", None, 0.0),
        ("2030-03-31T03:00:00+02:00", "moved", 3600.0),
        ("2030-04-01T02:30:00+02:00", None, 0.0),
    ]
    definition = {**NIGHTLY, "cron": "30 2 * * *"}
    unsaved = gateway.call("POST", f"/api/schedules/{path}", definition).body
    assert [each["note"] for each in unsaved["ticks"]] == [None, "moved", None]


def test_a_gateway_with_an_app_asks_it_about_the_jobs(database_url: str) -> None:
    app = App()

    @app.kind(queue="slow", priority=3)
    async def clean_up(days: int) -> None: ...

    with running_service(database_url, app=app) as gateway:
        made = make(gateway)
        assert (made["queue"], made["priority"]) == ("slow", 3)
        wrong = {**NIGHTLY, "name": "wrong", "args": {"days": "many"}}
        assert refused(gateway, "POST", "/api/schedules", wrong)[:2] == (422, "invalid_args")
        assert refused(gateway, "POST", "/api/schedules/preview", wrong)[:2] == (422, "invalid_args")
        assert refused(gateway, "PATCH", "/api/schedules/nightly", {"args": {}})[:2] == (422, "invalid_args")
        assert refused(gateway, "PATCH", "/api/schedules/nightly", {"kind": "none"})[:2] == (422, "unknown_kind")
        assert refused(gateway, "PATCH", "/api/schedules/nightly", {})[:2] == (422, "invalid_input")
        assert clean_up.name == "clean_up"


def test_a_query_needs_more_than_the_scope_that_operates(database_url: str) -> None:
    tokens = prepare(database_url)

    def status(scope: str, method: str, path: str, body: object = None) -> int:
        return call(gateway, tokens[scope], method, path, body)

    asking = {**NIGHTLY, "name": "all", "query": "select 1 as shop"}
    with running_service(database_url) as gateway:
        assert status("read", "POST", "/api/schedules", NIGHTLY) == 403
        assert status("operate", "POST", "/api/schedules", NIGHTLY) == 201
        assert status("operate", "PATCH", "/api/schedules/nightly", {"queue": "slow"}) == 200
        for method, path, body in (
            ("POST", "/api/schedules", asking),
            ("POST", "/api/schedules/preview", asking),
            ("PUT", "/api/schedules/all", asking),
            ("PATCH", "/api/schedules/nightly", {"query": "select 1"}),
        ):
            assert status("operate", method, path, body) == 403
        assert status("admin", "PUT", "/api/schedules/all", asking) == 200
        assert status("operate", "POST", "/api/schedules/all/trigger") == 200
        assert status("read", "POST", "/api/schedules/preview", NIGHTLY) == 200
        assert status("enqueue", "GET", "/api/schedules") == 403
        assert status("read", "POST", "/api/jobs/generate/all") == 403


def test_a_query_is_run_before_it_is_kept_where_rows_are_asked_for(gateway: RunningGateway) -> None:
    asked = {**NIGHTLY, "query": "select g as days from generate_series(1, 7) g", "query_rows": 7}
    path = "/api/schedules/preview?count=1"
    assert gateway.call("POST", path, asked).body["query"] is None
    answer = gateway.call("POST", f"{path}&rows=2", asked)
    assert (answer.status, answer.body["query"]) == (200, {"jobs": 7, "rows": [{"days": 1}, {"days": 2}]})
    assert gateway.call("POST", f"{path}&rows=2", NIGHTLY).body["query"] is None
    assert "more than 6 rows" in refused(gateway, "POST", f"{path}&rows=2", {**asked, "query_rows": 6})[2]
    assert gateway.call("GET", "/api/schedules").body["items"] == []


def test_the_last_few_ticks_of_each_schedule_are_told(gateway: RunningGateway) -> None:
    for name in ("one", "two"):
        make(gateway, name)
    for name in ("one", "one", "two"):
        gateway.call("POST", f"/api/schedules/{name}/trigger")
    assert gateway.call("GET", "/api/schedule-history/recent?count=0").status == 422
    newest = gateway.call("GET", "/api/schedule-history?limit=3").body["items"]
    first = gateway.call("GET", "/api/schedules?limit=1").body["next"]
    one, two = gateway.call("GET", "/api/schedule-history/recent").body["items"]
    assert (one["schedule"], one["outcome"], one["job_count"], one["reason"]) == (
        "one",
        ["fired"] * 2,
        [1, 1],
        [None] * 2,
    )
    assert one["tick_at"] == [each["tick_at"] for each in newest if each["schedule"] == "one"]
    assert gateway.call("GET", f"/api/schedule-history/recent?cursor={first}").body["items"] == [two]
    assert gateway.call("GET", "/api/schedule-history/recent?cursor=nonsense").status == 422


STORES = (
    "select 'store-' || n as key, n as store, jsonb_build_object('state_code', s) as metadata"
    " from (values (1, 'AZ'), (2, 'CA'), (3, 'AZ')) v(n, s)"
)


def test_rows_of_its_query_get_jobs_and_the_pages_go_on_at_a_key(gateway: RunningGateway) -> None:
    make(gateway, "all", query=STORES)
    path = "/api/schedules/all/enqueue"
    first = gateway.call("POST", path, {"limit": 2, "priority": 7}).body
    assert ([each["key"] for each in first["items"]], first["next"]) == (["store-1", "store-2"], "store-2")
    rest = gateway.call("POST", path, {"after_key": first["next"], "limit": 2}).body
    assert ([each["key"] for each in rest["items"]], rest["next"]) == (["store-3"], None)
    job = gateway.call("GET", f"/api/jobs/{first['items'][0]['job_id']}").body
    assert (job["kind"], job["priority"], job["metadata"]["state_code"]) == ("clean_up", 7, "AZ")
    assert gateway.call("POST", path, {"metadata": {"state_code": "CA"}, "dry_run": True}).body["items"] == [
        {"key": "store-2", "job_id": None, "is_new": None, "outcome": None}
    ]
    assert gateway.call("GET", "/api/schedules/all/history").body["items"] == []
    assert refused(gateway, "POST", path, {"query": "select 1"})[:2] == (422, "invalid_input")
    status, _, told = refused(gateway, "POST", path, {"metadata": {"state": "AZ"}})
    assert (status, "no row of schedule 'all' has state in its metadata" in told) == (422, True)
    assert refused(gateway, "POST", "/api/schedules/none/enqueue", {})[0] == 404
