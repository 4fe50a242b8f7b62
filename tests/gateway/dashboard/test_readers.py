"""Whoever may only read sees every page, and nothing on it with which something is changed."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.conftest import Psql
from tests.gateway.dashboard.conftest import OpenPage, Serve, sign_in
from tests.gateway.dashboard.filled import wait_for
from tests.gateway.dashboard.fleet import incarnation_of
from tests.gateway.dashboard.test_signing_in import BEARER, SECRET, make_token
from tests.gateway.dashboard.visits import visit
from tests.gateway.fakes.failing import fail_jobs
from tests.gateway.fakes.running import RunningGateway

NIGHTLY = {"name": "nightly", "kind": "report", "cron": "30 2 * * *"}
TO_WORKERS = ("Pause", "Scale", "Decommission", "Take the stacks")


def fill(gateway: RunningGateway) -> int:
    """Something to change on each page; answers the id of a chain."""
    for method, path, body in [
        ("POST", "/api/jobs", {"kind": "k", "queue": "mail", "key_group": "g"}),
        ("PUT", "/api/queues/mail/limits", {"max_running": 1}),
        ("POST", "/api/schedules", NIGHTLY),
        ("POST", "/api/workers/w-1/heartbeat", {"incarnation": incarnation_of("w-1")}),
    ]:
        assert gateway.call(method, path, body, BEARER).status < 300
    return gateway.call("POST", "/api/chains", {"kind": "pay"}, BEARER).body["id"]


def test_whoever_may_only_read_is_offered_no_change(
    serve: Serve, open_page: OpenPage, database_url: str, psql: Psql
) -> None:
    gateway = serve(gateway_token=SECRET)
    chain = fill(gateway)
    fail_jobs(psql, database_url, gateway, "mail", headers=BEARER)
    [failure] = gateway.call("GET", "/api/failures", headers=BEARER).body["items"]
    page = open_page(gateway.url(f"/failures/{failure['fingerprint']}"))
    sign_in(page, make_token(gateway, "read"))
    expect(page.get_by_role("heading", name="The newest")).to_be_visible()
    for path, shown, buttons in [
        ("/queues", "mail", ["Pause"]),
        ("/queues/mail", "the queue as a whole", ["Pause", "Ageing", "Add a limit", "Change", "Remove", "Limit"]),
        ("/schedules", "nightly", ["New schedule", "Trigger", "Disable"]),
        ("/schedules/nightly", "at 02:30, every day", ["Edit", "Trigger", "Disable", "Delete"]),
        ("/workers", "w-1", TO_WORKERS),
        (f"/workers/{incarnation_of('w-1')}", "w-1", TO_WORKERS),
        (f"/failures/{failure['fingerprint']}", "The newest", ["Retry all"]),
        (f"/chains/{chain}", "pay", ["Cancel"]),
    ]:
        visit(page, gateway.url(path))
        wait_for(page, shown)
        for name in buttons:
            expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(page.locator(".graph a[data-chain]")).to_have_count(1)
    visit(page, gateway.url("/enqueue"))
    wait_for(page, "Your token does not have the scope enqueue")
    for name in ("Enqueue", "Tokens"):
        expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
