"""What is drawn over time: deploys as marks on the charts, and the attempts of a job as a waterfall."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from tests.conftest import Psql
from tests.gateway.dashboard.conftest import At, OpenPage, Run
from tests.gateway.dashboard.fleet import incarnation_of, register
from tests.gateway.dashboard.test_pages import enqueue
from tests.gateway.dashboard.test_queues import BOOKS
from tests.gateway.dashboard.visits import visit
from tests.gateway.fakes.failing import fail_jobs
from tests.gateway.fakes.running import RunningGateway

MARKED = re.compile(r"Version 2\.0 came$")
CAME = """() => {
    const table = [...document.querySelectorAll("table")].find((each) => each.caption?.textContent === "crawl in the last hour");
    const told = document.querySelector("svg[aria-label^='crawl in the last hour']").getAttribute("aria-label");
    return [[...table.tBodies[0].rows].map((each) => each.querySelector("td").textContent), /(\\d+) jobs came/.exec(told)[1]];
}"""
"""What the table and the label of a small chart say at one moment: they move on with the time."""
STARTED = "update leasehold.workers set started_at = now() - interval '{minutes} min' where worker_id = '{worker}'"
WORKER = incarnation_of("w-1")
CLAIM = f"select leasehold.claim_jobs('{WORKER}', 'w-1', null, array['charge'], 1, '600 s')"
START = f"select leasehold.start_jobs('{WORKER}', array[{{job}}], array[{{attempt}}])"
RENEW = f"select leasehold.renew_leases('{WORKER}', array[{{job}}], array[{{attempt}}], array[600.0], null)"
FAIL = f"""
select leasehold.fail_jobs('{WORKER}', array[{{job}}], array[1],
                           array[jsonb_build_object('type', 'ValueError', 'message', 'boom')], retry_in => array[600.0])
"""


def test_a_deploy_is_marked_on_every_chart(
    gateway: RunningGateway, open_page: OpenPage, at: At, run: Run, database_url: str, psql: Psql
) -> None:
    run(BOOKS)
    run("delete from leasehold.workers")
    about: dict[str, Any] = {"queues": ["crawl"], "kinds": ["k"], "slots": 4}
    for version, workers in {"1.0": ["a-1", "a-2"], "2.0": ["b-1", "b-2"]}.items():
        for worker in workers:
            register(gateway, worker, **about, app_version=version)
    register(gateway, "plain", **about)
    for worker, minutes in {"a-1": 50, "a-2": 50, "b-1": 15, "b-2": 14, "plain": 5}.items():
        run(STARTED.format(worker=worker, minutes=minutes))
    fail_jobs(psql, database_url, gateway, "charge")
    page = open_page(at("/queues/crawl"))
    marks = page.locator(".chart .marks")
    expect(marks).to_have_count(3)
    for number in range(3):
        expect(marks.nth(number)).to_contain_text("Version 2.0 came")
        expect(marks.nth(number)).not_to_contain_text("Version 1.0")
        expect(marks.nth(number).locator("span")).to_have_count(1)
    expect(page.locator(".chart svg .mark")).to_have_count(3)
    visit(page, at("/capacity/crawl"))
    expect(page.locator(".chart .marks").first).to_contain_text("Version 2.0 came")
    for path in ("/", "/queues"):
        visit(page, at(path))
        expect(page.get_by_role("img", name="crawl in the last hour")).to_have_accessible_name(MARKED)
    visit(page, at("/failures"))
    expect(page.locator("tr[data-group]").get_by_role("img")).to_have_accessible_name(MARKED)


def test_small_charts_have_tables_for_those_who_cannot_see_them(
    gateway: RunningGateway, open_page: OpenPage, at: At, run: Run, database_url: str, psql: Psql
) -> None:
    run(BOOKS)
    fail_jobs(psql, database_url, gateway, "charge", jobs=3)
    page = open_page(at("/"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    for path in ("/", "/queues"):
        visit(page, at(path))
        rows = page.get_by_role("table", name="crawl in the last hour").get_by_role("row")
        expect(rows).to_have_count(7)
        expect(rows.nth(6)).to_contain_text("10 to 0 min ago")
        came, total = page.evaluate(CAME)
        assert came
        assert sum(map(int, came)) == int(total)
    visit(page, at("/failures"))
    counts = page.get_by_role("table", name="Failures of charge").get_by_role("row")
    expect(counts.first).to_contain_text("Count")
    assert sum(int(row.get_by_role("cell").inner_text()) for row in counts.all()[1:]) == 3


def test_the_waterfall_of_a_job_shows_its_attempts_its_back_off_and_its_lease(
    gateway: RunningGateway, open_page: OpenPage, at: At, run: Run
) -> None:
    job = enqueue(gateway, "charge", queue="pay")
    page = open_page(at(f"/jobs/{job}"))
    spans = page.get_by_role("list", name="Spans").get_by_role("listitem")
    expect(spans).to_have_count(1)
    expect(spans.nth(0)).to_contain_text("Waiting")
    run(CLAIM)
    run(START.format(job=job, attempt=1))
    page.reload()
    expect(spans).to_have_count(2)
    expect(spans.nth(1)).to_contain_text("Attempt 1")
    expect(spans.nth(1)).to_contain_text("runs")
    expect(page.get_by_text("The lease has not been renewed yet")).to_be_visible()
    run(RENEW.format(job=job, attempt=1))
    page.reload()
    expect(page.get_by_text("Lease renewed")).to_contain_text("only the last is known")
    expect(spans.nth(1).get_by_title("lease renewed")).to_have_count(1)
    expect(spans.nth(1).get_by_title("lease until")).to_have_count(1)
    run(FAIL.format(job=job))
    page.reload()
    expect(spans).to_have_count(3)
    expect(spans.nth(1)).to_contain_text("ran, failed")
    expect(spans.nth(2)).to_contain_text("Back-off")
    expect(spans.nth(2).locator("i")).to_have_attribute("data-tone", "backoff")
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_text("It is due now.")).to_be_visible()
    run(CLAIM)
    page.reload()
    expect(spans.last).to_contain_text("Attempt 2")
    page.get_by_text("Every moment").click()
    for moment in ("claimed", "started", "attempt failed"):
        expect(page.get_by_role("cell", name=moment).first).to_be_visible()
