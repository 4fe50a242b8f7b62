"""Six incidents, each found and mended from the dashboard alone, beginning at the overview. docs/dashboard.md tells the clicks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.conftest import Psql
from tests.gateway.dashboard.clicks import OnCall
from tests.gateway.dashboard.conftest import At, OpenPage, Run
from tests.gateway.dashboard.fleet import incarnation_of, register
from tests.gateway.dashboard.test_pages import enqueue
from tests.gateway.fakes.failing import fail_jobs
from tests.gateway.fakes.running import RunningGateway

HOLD = """
select leasehold.claim_jobs('{worker}', 'w1', null, array['sync'], 1);
update leasehold.jobs set claimed_at = claimed_at - interval '20 min', lease_expires_at = now() + interval '1 h'
 where kind = 'sync' and incarnation is not null;
"""
DIE = """
select leasehold.claim_jobs('{worker}', 'w2', null, array['pay'], 2);
update leasehold.workers set heartbeat_at = now() - interval '20 min' where incarnation = '{worker}';
update leasehold.jobs set claimed_at = now() - interval '20 min', lease_expires_at = now() + interval '{left}'
 where incarnation = '{worker}';
"""
SLOW = """
insert into leasehold.finished_jobs (id, created_at, run_at, claimed_at, started_at, finished_at, priority,
       attempt, spared_attempts, max_attempts, state, kind, queue, args)
select nextval('leasehold.jobs_id_seq'), e.at - e.run, e.at - e.run, e.at - e.run, e.at - e.run, e.at,
       0, 1, 0, 1, 'completed', 'pay', 'bank', '{}'
  from (values (now() - interval '50 min', interval '0.2 s'), (now() - interval '5 min', interval '20 s')) e(at, run)
 cross join generate_series(1, 20);
select leasehold.close_minutes();
"""


@pytest.fixture
def on_call(gateway: RunningGateway, open_page: OpenPage, at: At) -> Callable[[], OnCall]:
    """Opens the overview, with a worker that serves all kinds but `mial`."""
    register(gateway, "w1", kinds=["charge", "sync", "mail", "pay"])
    return lambda: OnCall(open_page(at("/")))


def states(gateway: RunningGateway, kind: str) -> list[str]:
    items: list[dict[str, Any]] = gateway.call("GET", f"/api/jobs?kind={kind}").body["items"]
    return sorted(each["state"] for each in items)


def test_a_poisoned_kind(gateway: RunningGateway, on_call: Callable[[], OnCall], database_url: str, psql: Psql) -> None:
    fail_jobs(psql, database_url, gateway, "charge", jobs=6)
    for _ in range(3):
        enqueue(gateway, "charge")
    who = on_call()
    who.follow("Kind charge failed 6 time(s) in the last hour: ValueError")
    expect(who.page.get_by_text("shop.py:7 in pay", exact=True)).to_be_visible()
    who.press("Cancel open jobs of this kind")
    who.press("Cancel 3")
    expect(who.page.get_by_text("3 job(s) cancelled")).to_be_visible()
    assert states(gateway, "charge") == ["cancelled"] * 3 + ["failed"] * 6
    assert who.clicks == 3
    # The handler is mended; what failed runs again.
    who.press("Retry all")
    who.press("Retry 6")
    expect(who.page.get_by_text("6 job(s) made to run again")).to_be_visible()
    assert states(gateway, "charge") == ["cancelled"] * 3 + ["pending"] * 6
    assert who.clicks == 5


def test_a_stuck_key(gateway: RunningGateway, on_call: Callable[[], OnCall], run: Run) -> None:
    first, second, _ = [enqueue(gateway, "sync", key="shop-7") for _ in range(3)]
    run(HOLD.format(worker=incarnation_of("w1")))
    who = on_call()
    who.follow(
        re.compile(rf"Key shop-7 is stuck: 2 job\(s\) wait for job {first} \(sync\), which has held it for 2\d min")
    )
    who.press("Cancel")
    who.press("Cancel it")
    expect(who.page.get_by_text("It is cancelled.")).to_be_visible()
    assert gateway.call("GET", f"/api/jobs/{second}").body["state"] == "pending"
    assert gateway.call("GET", "/api/troubles").body["stuck_keys"] == []
    assert who.clicks == 3


def test_a_paused_queue(gateway: RunningGateway, on_call: Callable[[], OnCall]) -> None:
    enqueue(gateway, "mail", queue="post")
    gateway.call("POST", "/api/queues/post/pause?reason=printer")
    who = on_call()
    who.follow("Queue post is paused: 1 job(s) of kind mail")
    expect(who.page.get_by_label("What it waits for")).to_contain_text("printer")
    who.page.go_back()
    expect(who.troubles().filter(has_text="is paused")).to_have_count(1)
    # Whoever knows the reason already needs one click.
    who.clicks = 0
    who.press("Resume post")
    expect(who.page.get_by_text("Queue post is claimed from again.")).to_be_visible()
    expect(who.troubles().filter(has_text="is paused")).to_have_count(0)
    assert who.clicks == 1
    assert gateway.call("GET", "/api/troubles").status == 200


def test_an_unserved_kind(gateway: RunningGateway, on_call: Callable[[], OnCall]) -> None:
    for _ in range(3):
        enqueue(gateway, "mial", queue="post")
    who = on_call()
    who.follow("No live worker serves 3 job(s) of kind mial in queue post")
    expect(who.page.locator("tr[data-job]")).to_have_count(3)
    who.press("Cancel")
    who.press("Cancel 3")
    expect(who.page.get_by_text("3 job(s) cancelled")).to_be_visible()
    assert states(gateway, "mial") == ["cancelled"] * 3
    assert who.clicks == 3


def test_a_slow_dependency(gateway: RunningGateway, on_call: Callable[[], OnCall], run: Run) -> None:
    run(SLOW)
    who = on_call()
    who.follow("Jobs of queue bank run for 20 s now and ran for 200 ms before")
    expect(who.page.get_by_role("img", name="Run times").first).to_be_visible()
    who.press("Add a limit")
    who.page.get_by_label("Running at once, at most").fill("2")
    who.press("Set it")
    expect(who.page.get_by_role("row", name="the queue as a whole")).to_contain_text("0 of 2")
    assert who.clicks == 3


def take_back_two(who: OnCall, gateway: RunningGateway) -> None:
    who.press("Take back 2")
    who.press("Take them back")
    expect(who.page.get_by_text("2 job(s) taken back.")).to_be_visible()
    assert states(gateway, "pay") == ["pending", "pending"]


def test_a_dead_worker_that_holds_jobs(gateway: RunningGateway, on_call: Callable[[], OnCall], run: Run) -> None:
    for _ in range(2):
        enqueue(gateway, "pay")
    register(gateway, "w2", kinds=["pay"])
    run(DIE.format(worker=incarnation_of("w2"), left="1 h"))
    enqueue(gateway, "sync")
    run(HOLD.format(worker=incarnation_of("w1")))
    who = on_call()
    who.follow("1 worker(s) have gone silent.")
    who.click(who.page.locator(f"tr[data-worker='{incarnation_of('w2')}'] .name").get_by_role("link"))
    take_back_two(who, gateway)
    # Another worker had not renewed its job either, and keeps it.
    assert states(gateway, "sync") == ["claimed"]
    assert who.clicks == 4


def test_leases_that_have_run_out(gateway: RunningGateway, on_call: Callable[[], OnCall], run: Run) -> None:
    for _ in range(2):
        enqueue(gateway, "pay")
    run(DIE.format(worker=incarnation_of("w2"), left="-1 s"))
    enqueue(gateway, "sync")
    who = on_call()
    run(HOLD.format(worker=incarnation_of("w1")))
    expect(who.troubles().filter(has_text="2 job(s) have a lease that has run out")).to_have_count(1)
    take_back_two(who, gateway)
    assert states(gateway, "sync") == ["claimed"]
    assert who.clicks == 2


def test_names_in_troubles_are_only_text(
    gateway: RunningGateway, open_page: OpenPage, at: At, database_url: str, psql: Psql
) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    fail_jobs(psql, database_url, gateway, hostile, hostile, jobs=6)
    page = open_page(at("/"))
    expect(page.get_by_role("list", name="What is wrong")).to_contain_text(f"Kind {hostile} failed 6 time(s)")
