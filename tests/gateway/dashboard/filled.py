"""A database with something to see on every page of the dashboard, and the addresses of these pages."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.conftest import Psql
from tests.gateway.dashboard.fleet import incarnation_of, register
from tests.gateway.dashboard.test_chains import fan_in
from tests.gateway.fakes.failing import fail_jobs
from tests.gateway.fakes.faulty import make_faults
from tests.gateway.fakes.running import RunningGateway
from tests.leasehold.client.nouns.test_capacity import SEED
from tests.support.saved import AFTER, BEFORE, save

CLAIM = "select leasehold.claim_jobs('{incarnation}', 'w-2', null, array['crawl'], 1, '600 s')"
DEPLOY = """
update leasehold.workers set app_version = coalesce(app_version, '1.0'), started_at = now() - interval '{minutes} min'
 where worker_id = '{worker}'
"""
SETTINGS = [
    ("PUT", "/api/queues/crawl/limits", {"max_running": 1, "rate": 1, "key_group": "*"}),
    ("POST", "/api/queues/crawl/pause?reason=the+shop+is+down", None),
    ("POST", "/api/schedules", {
        "name": "nightly", "kind": "report", "queue": "reports", "cron": "30 2 * * *", "zone": "Europe/Berlin"
    }),
    ("POST", "/api/schedules/nightly/trigger", None),
    ("POST", "/api/schedules/nightly/disable", None),
    ("POST", "/api/egress", {"name": "berlin-1", "locale": "de-DE", "proxy": "http://proxy.example:3128"}),
    ("POST", "/api/egress", {"name": "berlin-2"}),
]  # fmt: skip


def fill(gateway: RunningGateway, psql: Psql, database_url: str, store: Path) -> Mapping[str, str]:
    """Fill it, and return the path of each page with a text that stands on it when it has loaded."""
    psql(database_url, f"{SEED} select leasehold.close_minutes();")
    why = {"backoff": "memory 91 % of 2.0 GiB (limit 85 %)", "backoff_for": 600}
    for number, state in enumerate(("paused", "draining", "ready")):
        register(
            gateway, f"w-{number}", host=f"pod-{number}", state=state, queues=["crawl"], kinds=["k", "crawl"], slots=4,
            memory=0.3 + number * 0.3, cpu=0.8, app_version="1.0" if number < 2 else "2.0", **(why if number else {}),
        )  # fmt: skip
    for worker, minutes in {"w": 40, "w-0": 40, "w-1": 40, "w-2": 12}.items():
        psql(database_url, DEPLOY.format(minutes=minutes, worker=worker))
    job = _made(gateway, "/api/jobs", kind="crawl", queue="crawl", key_group="g", args={"n": [1, "x"], "price": None})
    psql(database_url, CLAIM.format(incarnation=incarnation_of("w-2")))
    fail_jobs(psql, database_url, gateway, "charge", jobs=6, message=f"boom {'w' * 3000}")
    make_faults(psql, database_url, gateway)
    _, chain, _ = fan_in(gateway)
    for method, path, body in SETTINGS:
        answer = gateway.call(method, path, body)
        assert answer.status < 300, answer.body
    # The driver of the browser has a loop in this thread.
    with ThreadPoolExecutor(1) as thread:
        _, payload = thread.submit(save, database_url, store, BEFORE, AFTER, key="101").result()
    [failure, *_] = gateway.call("GET", "/api/failures").body["items"]
    return {
        "/": "Queue crawl is paused", "/jobs": "crawl", f"/jobs/{job}": "Others of this kind", "/failures": "ValueError",
        f"/failures/{failure['fingerprint']}": "boom", "/chains": "whole", f"/chains/{chain}": "Chain",
        "/doctor": "finding(s)", "/enqueue": "Args, a JSON object", "/payloads": "catalogue",
        f"/payloads/{payload.id}": payload.sha256, "/egress": "berlin-1", "/tokens": "No token is active.",
        "/audit": "POST /api/", "/queues": "crawl", "/queues/crawl": "Key groups", "/workers": "paused or draining",
        "/workers/w-2": "Incarnation", "/schedules": "at 02:30, every day", "/schedules/nightly": "The clocks of Europe/Berlin",
        "/capacity": "crawl", "/capacity/crawl": "It would need", "/jobs/x": "Go to the overview",
    }  # fmt: skip


def wait_for(page: Page, text: str) -> None:
    """Returns when the page has loaded what it shows."""
    expect(page.locator("main h1")).to_be_visible()
    expect(page.locator("main").get_by_text(text).first).to_be_visible()
    expect(page.get_by_text("Loading…", exact=True)).to_have_count(0)


def _made(gateway: RunningGateway, path: str, **body: Any) -> int:
    return gateway.done("POST", path, body)["id"]
