from __future__ import annotations

from typing import Any

import msgspec

from leasehold.moving.sources import load_mapping
from tests.conftest import Psql
from tests.gateway.fakes.running import RunningGateway, running_service
from tests.support.sources.seeds import CRAWL_JOBS, WORKER_TASKS


def define(psql: Psql, database_url: str) -> None:
    mapping = msgspec.json.encode(load_mapping("crawl_jobs")).decode()
    psql(database_url, WORKER_TASKS + CRAWL_JOBS)
    psql(database_url, f"select leasehold.define_source('crawl_jobs', $m${mapping}$m$)")


def post(gateway: RunningGateway, step: str, body: object = None) -> dict[str, Any]:
    return gateway.done("POST", f"/api/tasks/migration/{step}", body)


def test_the_five_steps_at_the_paths_of_the_task_workers(database_url: str, psql: Psql) -> None:
    define(psql, database_url)
    with running_service(database_url) as gateway:
        status = gateway.call("GET", "/api/tasks/migration/status").body
        assert {row["state"]: row["row_count"] for row in status["rows"]} == {
            "completed": 3,
            "pending": 3,
            "running": 3,
            "schedule": 2,
        }
        disabled = post(gateway, "disable-old-schedules")
        cancelled = post(gateway, "cancel-pending-crawl-jobs")
        created = post(gateway, "create-resync-tasks", {"state_code": "AZ"})
        migrated = post(gateway, "full-migrate")
    assert (disabled["disabled"], cancelled["cancelled"], created["created"]) == (1, 3, 5)
    assert {each["kind"]: each["made"] for each in migrated["refilled"]} == {
        "product_resync": 5,
        "store_discovery": 1,
        "analytics_refresh": 1,
    }


def test_two_sources_and_no_name_are_refused_with_the_names(database_url: str, psql: Psql) -> None:
    define(psql, database_url)
    psql(database_url, """select leasehold.define_source('other', '{"refill": [{"columns": {"kind": "''a''"}}]}')""")
    with running_service(database_url) as gateway:
        for method, step in (("POST", "full-migrate"), ("POST", "disable-old-schedules"), ("GET", "status")):
            refused = gateway.call(method, f"/api/tasks/migration/{step}")
            assert (refused.status, refused.body["code"]) == (422, "invalid_input")
            assert "say which source is meant; there are crawl_jobs, other" in refused.body["detail"]


def test_misfit_rows_are_told_before_and_after_and_the_rest_moves(database_url: str, psql: Psql) -> None:
    define(psql, database_url)
    kind = '[{"kind": "product_resync", "args_schema": {"type": "object", "required": ["store"]}}]'
    psql(database_url, f"select * from leasehold.declare_kinds('{kind}', 'shop:app', '1', false)")
    with running_service(database_url) as gateway:
        told = gateway.call("GET", "/api/tasks/migration/status").body["refill"]
        done = post(gateway, "full-migrate")
        assert told == done["refilled"]
        [misfit] = [each for each in done["refilled"] if each["refused"]]
        assert (misfit["kind"], misfit["made"], misfit["refused"]) == ("product_resync", 0, 10)
        assert misfit["complaint"].startswith("key '1': args do not fit product_resync")
        assert sorted(each["kind"] for each in gateway.call("GET", "/api/jobs").body["items"]) == [
            "analytics_refresh",
            "store_discovery",
        ]
        assert sum(each["cancelled"] for each in done["jobs"]) == 3


def test_an_unknown_source_and_an_unknown_filter_are_refused(database_url: str, psql: Psql) -> None:
    with running_service(database_url) as gateway:
        missing = gateway.call("GET", "/api/jobs/migration/status")
        assert (missing.status, missing.body["code"]) == (404, "unknown_source")
        define(psql, database_url)
        refused = gateway.call("POST", "/api/jobs/migration/create-resync-tasks", {"filters": {"town": "Mesa"}})
        assert (refused.status, refused.body["code"]) == (422, "invalid_input")
