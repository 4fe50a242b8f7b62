"""`/api/chains…` with a real database behind it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from leasehold.app import App
from tests.conftest import Psql
from tests.gateway.fakes.running import RunningGateway, running_service


def start(gateway: RunningGateway, kind: str = "pay", **fields: Any) -> int:
    return gateway.done("POST", "/api/chains", {"kind": kind, **fields})["id"]


def complete(gateway: RunningGateway, chain_id: int, **body: Any) -> list[int]:
    return gateway.done("POST", f"/api/chains/{chain_id}/complete", body)["new_ids"]


def test_a_chain_is_started_continued_completed_and_read(gateway: RunningGateway) -> None:
    chain_id = start(gateway, args={"order": 7}, queue="shop")
    [packed] = complete(gateway, chain_id, next={"kind": "pack", "args": {"order": 7}})
    chain = gateway.call("GET", f"/api/chains/{chain_id}").body
    assert (chain["state"], chain["kind"], chain["queue"], chain["job_id"], chain["jobs"]) == (
        "open",
        "pay",
        "shop",
        packed,
        2,
    )
    assert complete(gateway, chain_id, output={"done": [1]}) == []
    assert gateway.call("GET", f"/api/chains/{chain_id}").body["output"] == {"done": [1]}
    page = gateway.call("GET", f"/api/chains/{chain_id}/jobs").body
    assert ([job["id"] for job in page["items"]], page["next"]) == ([chain_id, packed], None)
    page = gateway.call("GET", f"/api/chains/{chain_id}/jobs?limit=1").body
    assert [job["id"] for job in page["items"]] == [chain_id]
    page = gateway.call("GET", f"/api/chains/{chain_id}/jobs?limit=5&cursor={page['next']}").body
    assert ([job["id"] for job in page["items"]], page["next"]) == ([packed], None)


def test_a_completion_may_begin_further_chains(gateway: RunningGateway) -> None:
    chain_id = start(gateway)
    mailed, packed = complete(gateway, chain_id, next={"kind": "pack"}, jobs=[{"kind": "mail"}])
    assert gateway.call("GET", f"/api/chains/{mailed}").body["kind"] == "mail"
    assert gateway.call("GET", f"/api/chains/{chain_id}").body["job_id"] == packed


def test_chains_are_listed_page_by_page(gateway: RunningGateway) -> None:
    chains = [start(gateway, kind) for kind in ("pay", "pack", "pay")]
    gateway.call("POST", f"/api/chains/{chains[2]}/cancel")
    page = gateway.call("GET", "/api/chains?limit=2").body
    assert [each["chain_id"] for each in page["items"]] == chains[:0:-1]
    page = gateway.call("GET", f"/api/chains?limit=2&cursor={page['next']}").body
    assert ([each["chain_id"] for each in page["items"]], page["next"]) == ([chains[0]], None)
    page = gateway.call("GET", "/api/chains?kind=pay&state=open").body
    assert ([each["chain_id"] for each in page["items"]], page["next"]) == ([chains[0]], None)
    assert gateway.call("GET", "/api/chains?state=pending").status == 422
    assert gateway.call("GET", "/api/chains?limit=0").status == 422


def test_a_job_that_waits_for_chains_says_so(gateway: RunningGateway) -> None:
    part = start(gateway, "part")
    whole = start(gateway, "whole", blockers=[part])
    complete(gateway, part, output=1)
    [blocker] = gateway.call("GET", f"/api/jobs/{whole}/blockers").body["items"]
    assert (blocker["chain_id"], blocker["state"], blocker["output"]) == (part, "completed", 1)
    refused = gateway.call("POST", "/api/chains", {"kind": "whole", "blockers": [99]})
    assert (refused.status, refused.body["code"]) == (422, "invalid_input")


def test_a_chain_is_deleted_unless_somebody_waits_for_it(gateway: RunningGateway) -> None:
    part = start(gateway, "part")
    whole = start(gateway, "whole", blockers=[part])
    refused = gateway.call("DELETE", f"/api/chains/{part}")
    assert (refused.status, refused.body["code"]) == (409, "wrong_state")
    assert f"job {whole} (whole) waits for it" in refused.body["detail"]
    answer = gateway.call("DELETE", f"/api/chains/{whole}?cascade=true")
    assert (answer.status, answer.body) == (200, {"deleted": [part, whole]})


def test_a_chain_is_cancelled_once(gateway: RunningGateway) -> None:
    chain_id = start(gateway)
    answer = gateway.call("POST", f"/api/chains/{chain_id}/cancel?reason=no%20money")
    assert (answer.status, answer.body) == (200, {"was": "pending"})
    assert gateway.call("GET", f"/api/chains/{chain_id}").body["error"]["message"] == "no money"
    for again, body in (("cancel", b""), ("complete", b"{}")):
        answer = gateway.call("POST", f"/api/chains/{chain_id}/{again}", body)
        assert (answer.status, answer.body["code"]) == (409, "wrong_state")


CASES: list[tuple[str, str]] = [
    ("GET", "/api/chains/99"),
    ("GET", "/api/chains/99/graph"),
    ("GET", "/api/chains/99/jobs"),
    ("GET", "/api/chains/99/wait"),
    ("POST", "/api/chains/99/complete"),
    ("POST", "/api/chains/99/cancel"),
    ("DELETE", "/api/chains/99"),
    ("GET", "/api/jobs/99/blockers"),
    ("GET", "/api/chains/none"),
    ("GET", "/api/chains/99999999999999999999"),
]


def test_what_is_not_there_is_not_found(gateway: RunningGateway) -> None:
    for method, path in CASES:
        answer = gateway.call(method, path, b"{}" if path.endswith("complete") else None)
        assert (answer.status, answer.body["code"]) == (404, "unknown_job")


def test_a_completion_that_makes_no_sense_is_refused_with_the_field(gateway: RunningGateway) -> None:
    cases: list[tuple[object, str]] = [
        ({"output": 1, "next": {"kind": "pack"}}, "$.output"),
        ({"jobs": [{"kind": "pack"}]}, "$.jobs"),
        ({"next": {"kind": ""}}, "$.next.kind"),
        ({"next": {"kind": "pack", "args": [1]}}, "$.next.args"),
        ({"next": {"kind": "a"}, "jobs": [{"kind": "pack", "delay": -1}]}, "$.jobs[0].delay"),
        ({"outptu": 1}, "$.outptu"),
    ]
    for body, path in cases:
        chain_id = start(gateway)
        answer = gateway.call("POST", f"/api/chains/{chain_id}/complete", body)
        assert (answer.status, answer.body["errors"][0]["path"]) == (422, path)
        assert gateway.call("GET", f"/api/chains/{chain_id}").body["state"] == "open"


def test_with_an_app_the_next_job_is_checked(database_url: str) -> None:
    app = App()

    @app.kind()
    async def pay(order: int) -> None: ...

    with running_service(database_url, app=app) as gateway:
        chain_id = start(gateway, args={"order": 7})
        for follower, code in (
            ({"kind": "pack"}, "unknown_kind"),
            ({"kind": "pay", "args": {"order": "x"}}, "invalid_args"),
        ):
            answer = gateway.call("POST", f"/api/chains/{chain_id}/complete", {"next": follower})
            assert (answer.status, answer.body["code"]) == (422, code)


def test_a_wait_is_answered_when_the_chain_ends(gateway: RunningGateway, database_url: str, psql: Psql) -> None:
    chain_id = start(gateway)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(gateway.call, "GET", f"/api/chains/{chain_id}/wait?seconds=60")
        while psql(database_url, "select count(*) from leasehold.chain_waiters") == "0":
            assert not waiting.done()
        complete(gateway, chain_id, output="paid")
        answer = waiting.result()  # which has less patience than `seconds`
    assert (answer.status, answer.body["state"], answer.body["output"]) == (200, "completed", "paid")
    failed = start(gateway)
    gateway.call("POST", f"/api/chains/{failed}/cancel")
    assert gateway.call("GET", f"/api/chains/{failed}/wait").body["state"] == "cancelled"


def test_when_the_time_is_up_the_chain_is_shown_as_it_stands(gateway: RunningGateway) -> None:
    chain_id = start(gateway)
    for seconds in ("0", "0.05"):
        answer = gateway.call("GET", f"/api/chains/{chain_id}/wait?seconds={seconds}")
        assert (answer.status, answer.body["state"]) == (200, "open")
    for seconds in ("-1", "61", "nan", "x"):
        assert gateway.call("GET", f"/api/chains/{chain_id}/wait?seconds={seconds}").status == 422


def test_a_gateway_that_stops_does_not_let_anybody_wait(gateway: RunningGateway, database_url: str, psql: Psql) -> None:
    chain_id = start(gateway)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(gateway.call, "GET", f"/api/chains/{chain_id}/wait?seconds=60")
        while psql(database_url, "select count(*) from leasehold.chain_waiters") == "0":
            assert not waiting.done()
        gateway.stop()
        answer = waiting.result()  # which has less patience than `seconds`
    assert (answer.status, answer.body["state"]) == (200, "open")


def test_the_graph_of_a_chain_has_what_it_waits_for_and_what_waits(gateway: RunningGateway) -> None:
    parts = [start(gateway, "part") for _ in range(3)]
    whole = start(gateway, "whole", blockers=parts)
    graph = gateway.call("GET", f"/api/chains/{parts[0]}/graph").body
    assert {node["chain_id"]: node["waits_for"] for node in graph["nodes"]} == {whole: parts} | {
        each: [] for each in parts
    }
    assert (graph["nodes"][0]["chain_id"], graph["is_partial"]) == (parts[0], False)
    few = gateway.call("GET", f"/api/chains/{whole}/graph?limit=2").body
    assert ([node["chain_id"] for node in few["nodes"]], few["is_partial"]) == ([whole, parts[0]], True)
