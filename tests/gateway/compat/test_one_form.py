"""A task of a store has one form, whoever makes it: the store is the key, and the args are its payload alone."""

from __future__ import annotations

import msgspec

from leasehold.moving.sources import load_mapping
from tests.conftest import Psql
from tests.gateway.compat.test_aliases import call
from tests.gateway.fakes.running import running_service
from tests.support.sources.seeds import CRAWL_JOBS, WORKER_TASKS

FILL = """
insert into worker_tasks (role, dispensary_id) values ('product_resync', 2);
insert into task_schedules (name, role, interval_hours, state_code) values ('resync', 'product_resync', 4, 'AZ');
"""
ROLE = "product_resync"


def test_tasks_over_http_moved_ones_refilled_ones_and_those_of_moved_schedules_are_alike(
    database_url: str, psql: Psql
) -> None:
    psql(database_url, WORKER_TASKS + CRAWL_JOBS + FILL)
    for source in ("worker_tasks", "crawl_jobs"):
        mapping = msgspec.json.encode(load_mapping(source)).decode()
        psql(database_url, f"select leasehold.define_source('{source}', $m${mapping}$m$)")
    with running_service(database_url) as gateway:

        def of_shop_2(made: int) -> None:
            """One more task of shop 2 is there, and all of them are alike."""
            tasks = call(gateway, "GET", f"/api/tasks?role={ROLE}&dispensary_id=2")["items"]
            assert len(tasks) == made
            for task in tasks:
                assert (task["kind"], task["queue"], task["key"], task["args"]) == (ROLE, ROLE, "2", {})

        call(gateway, "POST", "/api/tasks/migration/create-resync-tasks?source=crawl_jobs", b'{"state_code":"AZ"}')
        of_shop_2(1)
        call(gateway, "POST", "/api/tasks/migration/full-migrate?source=worker_tasks")
        of_shop_2(2)
        call(gateway, "POST", "/api/tasks", b'{"role":"product_resync","dispensary_id":2}', 201)
        of_shop_2(3)
        call(gateway, "POST", "/api/tasks/generate/resync", b'{"batches_per_day":6}')
        of_shop_2(4)
        made = call(gateway, "POST", "/api/job-queue/enqueue-state", b'{"role":"product_resync","state_code":"AZ"}')
        assert [each["key"] for each in made["items"]] == ["10", "2", "4", "6", "8"]
        of_shop_2(5)
