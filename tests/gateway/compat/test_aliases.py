"""What the documents of task workers show, word for word, sent to a gateway with a real database."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from leasehold.checks.work import check_workers
from leasehold.database import Database
from leasehold.settings import Settings
from tests.gateway.fakes.running import RunningGateway
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_worker import SqlWorker

HEARTBEAT = b"""{
"worker_id": "worker-abc123",
"current_task_id": 456,
"current_task_ids": [456, 457, 458],
"active_task_count": 3,
"max_concurrent_tasks": 3,
"status": "active",
"resources": {
"memory_mb": 256,
"memory_total_mb": 512,
"memory_rss_mb": 320,
"memory_percent": 50,
"cpu_user_ms": 12500,
"cpu_system_ms": 3200,
"cpu_percent": 45,
"is_backing_off": false,
"backoff_reason": null
}
}"""
CAPACITY = """
pending_tasks - Tasks waiting to be claimed
ready_tasks - Tasks ready now (scheduled_for is null or past)
claimed_tasks - Tasks claimed but not started
running_tasks - Tasks actively processing
completed_last_hour - Recent completions
failed_last_hour - Recent failures
active_workers - Workers with recent heartbeats
avg_duration_sec - Average task duration
tasks_per_worker_hour - Throughput estimate
estimated_hours_to_drain - Time to clear queue
"""
COLUMNS = re.findall(r"^(\w+) -", CAPACITY, re.MULTILINE)
WORKER_TASKS = {
    "id",
    "role",
    "dispensary_id",
    "platform",
    "status",
    "priority",
    "scheduled_for",
    "worker_id",
    "claimed_at",
    "started_at",
    "completed_at",
    "last_heartbeat_at",
    "result",
    "error_message",
    "retry_count",
    "max_retries",
    "created_at",
    "updated_at",
}


def call(gateway: RunningGateway, method: str, path: str, body: bytes | None = None, status: int = 200) -> Any:
    answer = gateway.call(method, path, body)
    assert answer.status == status, answer.body
    return answer.body


def test_create_task(gateway: RunningGateway) -> None:
    # role: 'product_resync', dispensary_id: 123, scheduled_for: new Date('2025-01-10T06:00:00Z')
    sent = b'{"role":"product_resync","dispensary_id":123,"scheduled_for":"2025-01-10T06:00:00.000Z"}'
    made = call(gateway, "POST", "/api/tasks", sent, 201)
    task = call(gateway, "GET", f"/api/tasks/{made['id']}")
    assert set(task) >= WORKER_TASKS
    assert (task["role"], task["dispensary_id"], task["status"], task["max_retries"]) == (
        "product_resync",
        123,
        "pending",
        3,
    )
    later = b'{"role":"analytics_refresh","scheduled_for":"2125-01-10T06:00:00.000Z"}'
    waits = call(gateway, "GET", f"/api/tasks/{call(gateway, 'POST', '/api/tasks', later, 201)['id']}")
    assert (waits["status"], waits["state"]) == ("pending", "scheduled")
    assert datetime.fromisoformat(waits["scheduled_for"]) == datetime(2125, 1, 10, 6, tzinfo=UTC)
    assert (task["queue"], task["key"], task["kind"]) == ("product_resync", "123", "product_resync")
    again = b'{"role":"product_resync","dispensary_id":124,"platform":"dutchie"}'
    assert call(gateway, "POST", "/api/job-queue/enqueue", again, 201)["id"] > made["id"]
    batch = b'[{"role":"product_resync","dispensary_id":125},{"role":"store_discovery","priority":5}]'
    assert len(call(gateway, "POST", "/api/job-queue/enqueue-batch", batch, 201)["items"]) == 2

    def listed(query: str) -> list[Any]:
        return [task["dispensary_id"] for task in call(gateway, "GET", f"/api/tasks?{query}")["items"]]

    assert listed("role=product_resync") == [125, 124, 123]
    assert listed("platform=dutchie&status=pending") == [124]
    assert listed("dispensary_id=125") == [125]
    assert listed("status=stale") == []
    assert listed("role=product_resync&queue=other") == listed("platform=a&metadata=%7B%22platform%22:%22b%22%7D") == []
    assert call(gateway, "GET", "/api/tasks/counts")["pending"] == 5


def test_capacity_of_a_role(gateway: RunningGateway) -> None:
    call(gateway, "POST", "/api/tasks", b'{"role":"product_resync"}', 201)
    asked = call(gateway, "GET", "/api/tasks/capacity/product_resync")
    assert (asked["role"], asked["pending_tasks"], asked["active_workers"]) == ("product_resync", 1, 0)
    assert set(asked["workers_needed"]) == {"for_1_hour", "for_4_hours", "for_8_hours"}
    [row] = call(gateway, "GET", "/api/tasks/capacity")["items"]
    assert set(COLUMNS) <= set(row)


async def test_the_view_has_their_columns(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "queue": "product_resync"}])
    [row] = await database.fetch("SELECT * FROM leasehold.v_worker_capacity")
    assert set(COLUMNS) <= set(row.keys())
    assert (row["role"], row["pending_tasks"], row["ready_tasks"]) == ("product_resync", 1, 1)


async def test_recover_stale(database: Database, gateway: RunningGateway) -> None:
    await enqueue_many(database, [{"kind": "a"}])
    await SqlWorker(database).claim()
    sent = b'{"threshold_minutes": 10}'
    assert call(gateway, "POST", "/api/tasks/recover-stale", sent) == {"recovered": 0}
    await database.execute(
        "update leasehold.jobs set heartbeat_at = heartbeat_at - interval '11 min', claimed_at = claimed_at - interval '11 min'"
    )
    assert call(gateway, "POST", "/api/tasks/recover-stale", b'{"threshold_minutes": 12}') == {"recovered": 0}
    assert call(gateway, "POST", "/api/tasks/recover-stale", sent) == {"recovered": 1}
    assert call(gateway, "POST", "/api/tasks/recover-stale") == {"recovered": 0}


def test_generate_resync(gateway: RunningGateway) -> None:
    schedule = b'{"name":"resync","kind":"product_resync","every":86400,"stagger":86400}'
    call(gateway, "POST", "/api/schedules", schedule, 201)
    made = call(gateway, "POST", "/api/tasks/generate/resync", b'{"batches_per_day": 6}')
    assert made["job_count"] == 1
    discovery = call(gateway, "POST", "/api/tasks/generate/discovery", status=404)
    assert discovery["code"] == "unknown_schedule"


def test_enqueue_state(gateway: RunningGateway) -> None:
    for store, code in ((1, "AZ"), (2, "CA"), (3, "AZ")):
        sent = f'{{"role":"product_resync","dispensary_id":{store},"metadata":{{"state_code":"{code}"}}}}'.encode()
        call(gateway, "POST", "/api/tasks", sent, 201)
    made = call(gateway, "POST", "/api/job-queue/enqueue-state", b'{"state_code": "AZ"}')["items"]
    assert [each["key"] for each in made] == ["1", "3"]
    assert call(gateway, "GET", f"/api/tasks/{made[0]['job_id']}")["role"] == "payload_fetch"


STORES = (
    "select id::text as key, id as store, jsonb_build_object('state_code', state_code) as metadata"
    " from (values (1, 'AZ'), (2, 'CA'), (3, 'AZ')) dispensaries(id, state_code)"
)


def schedule(gateway: RunningGateway, name: str, kind: str, **fields: Any) -> None:
    body = {"name": name, "kind": kind, "every": 14_400, "queue": kind, **fields}
    answer = gateway.call("POST", "/api/schedules", body)
    assert answer.status == 201, answer.body


def test_enqueue_state_takes_the_stores_from_the_table_of_stores(gateway: RunningGateway) -> None:
    schedule(gateway, "payload_fetch_all", "payload_fetch", query=STORES)
    made = call(gateway, "POST", "/api/job-queue/enqueue-state", b'{"state_code": "AZ"}')["items"]
    assert [each["key"] for each in made] == ["1", "3"]
    task = call(gateway, "GET", f"/api/tasks/{made[1]['job_id']}")
    assert (task["role"], task["dispensary_id"], task["args"]) == ("payload_fetch", 3, {"store": 3})
    assert call(gateway, "POST", "/api/job-queue/enqueue-state", b'{"state_code": "NY"}')["items"] == []
    schedule(gateway, "payload_fetch_west", "payload_fetch", query=STORES + " where state_code = 'CA'")
    refused = call(gateway, "POST", "/api/tasks/enqueue-state", b'{"state_code": "AZ"}', status=422)
    assert "payload_fetch_all, payload_fetch_west; name one of them" in str(refused)
    chosen = b'{"state_code": "CA", "schedule": "payload_fetch_west", "priority": 5}'
    [west] = call(gateway, "POST", "/api/job-queue/enqueue-state", chosen)["items"]
    assert call(gateway, "GET", f"/api/tasks/{west['job_id']}")["priority"] == 5


def test_resync_and_discovery_find_the_schedules_that_make_such_tasks(gateway: RunningGateway) -> None:
    schedule(gateway, "payload_fetch_all", "payload_fetch", query=STORES)
    schedule(gateway, "store_discovery_dutchie", "store_discovery", priority=5)
    made = call(gateway, "POST", "/api/tasks/generate/resync", b'{"batches_per_day": 6}')
    assert (made["schedule"], made["job_count"]) == ("payload_fetch_all", 3)
    assert call(gateway, "POST", "/api/tasks/generate/discovery")["schedule"] == "store_discovery_dutchie"
    schedule(gateway, "store_discovery_jane", "store_discovery")
    refused = call(gateway, "POST", "/api/tasks/generate/discovery", status=422)
    assert "store_discovery_dutchie, store_discovery_jane; name one of them" in str(refused)
    assert call(gateway, "POST", "/api/tasks/generate/store_discovery_jane")["job_count"] == 1
    schedule(gateway, "resync", "product_resync")
    assert call(gateway, "POST", "/api/tasks/generate/resync")["schedule"] == "resync"


async def test_role_and_store_paths(database: Database, gateway: RunningGateway) -> None:
    await enqueue_many(database, [{"kind": "a", "queue": "product_resync", "key": "456"}])
    assert call(gateway, "GET", "/api/tasks/store/456/active")["active"] is False
    worker = SqlWorker(database)
    jobs = await worker.claim()
    active = call(gateway, "GET", "/api/tasks/store/456/active")
    assert (active["active"], active["task"]["dispensary_id"]) == (True, 456)
    await worker.complete(jobs)
    for root in ("/api/tasks", "/api/jobs"):
        assert call(gateway, "GET", f"{root}/role/product_resync/last-completion")["last_completed_at"] is not None
        [recent] = call(gateway, "GET", f"{root}/role/product_resync/recent")["items"]
        assert (recent["status"], recent["dispensary_id"]) == ("completed", 456)


def test_heartbeat_data(gateway: RunningGateway) -> None:
    for path, is_first in (("/api/worker-registry/heartbeat", True), ("/api/workers/heartbeat", False)):
        assert call(gateway, "POST", path, HEARTBEAT)["registered"] is is_first
    [worker] = call(gateway, "GET", "/api/workers")["items"]
    assert (worker["worker_id"], worker["slots"], worker["state"]) == ("worker-abc123", 3, "ready")
    assert (worker["memory"], worker["rss"], worker["cpu_user"]) == (0.5, 320 * 2**20, 12.5)


async def test_a_worker_known_by_their_heartbeat_alone_is_nothing_for_the_doctor(
    database: Database, gateway: RunningGateway
) -> None:
    call(gateway, "POST", "/api/worker-registry/heartbeat", HEARTBEAT)
    check = await check_workers(database, Settings())
    assert (check.verdict, "deaf" in check.detail) == ("ok", False)
