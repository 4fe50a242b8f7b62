from __future__ import annotations

from leasehold.database import Database
from tests.gateway.fakes.running import running_service
from tests.support.sql_kinds import ORDER, declare
from tests.support.sql_worker import SqlWorker


async def test_kinds_are_listed_and_one_is_shown(database: Database, database_url: str) -> None:
    await declare(
        database, {"kind": "charge", "queue": "orders", "args_schema": ORDER, "output_schema": {"type": "string"}}
    )
    await declare(database, {"kind": "charge", "queue": "express", "args_schema": ORDER}, version="2")
    with running_service(database_url) as gateway:
        [listed] = gateway.call("GET", "/api/kinds").body["items"]
        shown = gateway.call("GET", "/api/kinds/charge").body
        assert listed == shown
        assert (shown["kind"], shown["queue"], shown["args_schema"], shown["output_schema"], shown["app_version"]) == (
            "charge", "express", ORDER, None, "2",
        )  # fmt: skip
        [other] = shown["conflicts"]
        assert (other["app_version"], other["fields"]) == ("1", ["output_schema", "queue"])
        unknown = gateway.call("GET", "/api/kinds/nobody")
        assert (unknown.status, unknown.body["code"]) == (404, "undeclared_kind")


async def test_a_job_over_http_has_the_defaults_of_its_kind_and_args_that_do_not_fit_are_refused(
    database: Database, database_url: str
) -> None:
    await declare(
        database, {"kind": "charge", "queue": "orders", "max_attempts": 5, "key": "args.order_id", "args_schema": ORDER}
    )
    with running_service(database_url) as gateway:
        made = gateway.call("POST", "/api/jobs", {"kind": "charge", "args": {"order_id": 7}})
        job = gateway.call("GET", f"/api/jobs/{made.body['id']}").body
        assert (job["queue"], job["max_attempts"], job["key"]) == ("orders", 5, "7")
        said = gateway.call("POST", "/api/jobs", {"kind": "charge", "args": {"order_id": 7}, "queue": "default"})
        assert gateway.call("GET", f"/api/jobs/{said.body['id']}").body["queue"] == "default"
        refused = gateway.call("POST", "/api/jobs", {"kind": "charge", "args": {"order_id": "x"}})
        assert (refused.status, "args.order_id must be integer, not string" in str(refused.body)) == (422, True)
        batch = gateway.call(
            "POST", "/api/jobs/batch", [{"kind": "charge", "args": {"order_id": 1}}, {"kind": "charge"}]
        )
        assert (batch.status, "args.order_id is missing" in str(batch.body)) == (422, True)


async def test_check_args_false_in_the_body_takes_any_args(database: Database, database_url: str) -> None:
    await declare(database, {"kind": "charge", "queue": "orders", "args_schema": ORDER})
    lax = {"kind": "charge", "args": {"order_id": "x"}, "check_args": False}
    with running_service(database_url) as gateway:
        made = gateway.call("POST", "/api/jobs", lax)
        assert made.status == 201
        job = gateway.call("GET", f"/api/jobs/{made.body['id']}").body
        assert (job["queue"], job["args"]) == ("orders", {"order_id": "x"})
        assert gateway.call("POST", "/api/jobs/batch", [lax, {"kind": "charge", "args": {"order_id": 1}}]).status == 201
        refused = gateway.call("POST", "/api/jobs", lax | {"check_args": True})
        assert (refused.status, "args.order_id must be integer" in str(refused.body)) == (422, True)
        assert gateway.call("POST", "/api/jobs", lax | {"check_args": "no"}).status == 422


async def test_a_kind_that_no_app_has_any_more_is_dropped(database: Database, database_url: str) -> None:
    await declare(database, {"kind": "charge"})
    await SqlWorker(database).register(kinds=["ship"])
    await declare(database, {"kind": "ship"})
    with running_service(database_url) as gateway:
        listed = gateway.call("GET", "/api/kinds").body["items"]
        assert [(each["kind"], each["workers"]) for each in listed] == [("charge", 0), ("ship", 1)]
        dropped = gateway.call("DELETE", "/api/kinds/charge")
        assert (dropped.status, dropped.body) == (200, {"kind": "charge"})
        gone = gateway.call("DELETE", "/api/kinds/charge")
        assert (gone.status, gone.body["code"]) == (404, "undeclared_kind")
        used = gateway.call("DELETE", "/api/kinds/ship")
        assert (used.status, "serves it" in str(used.body)) == (409, True)
