"""What comes to an open page by itself: lines of a log, progress, schedules. No page asks for them again and again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page, expect

from tests.conftest import Psql
from tests.gateway.dashboard.conftest import At, OpenPage
from tests.gateway.dashboard.test_bounds import REMEMBER_STREAMS
from tests.gateway.fakes.running import RunningGateway

WORKER = "00000000-0000-0000-0000-000000000001"
COUNT_REASONS = """
window.reasons = 0;
const Plain = window.EventSource;
window.EventSource = class extends Plain {
    constructor(...given) {
        super(...given);
        for (const each of ["ready", "reset", "changes"]) this.addEventListener(each, () => window.reasons++);
    }
};
"""
"""Why a page loads anew: it has begun to listen, now or after the connection broke; it may have missed something; it was told."""


def count_requests(page: Page, part: str) -> list[str]:
    """The addresses with this part that the page asks for from now on."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url) if part in request.url else None)
    return found


def test_times_are_told_by_the_clock_of_the_gateway_whatever_the_readers_machine_says(
    gateway: RunningGateway, open_page: OpenPage, at: At
) -> None:
    gateway.call("POST", "/api/jobs", {"kind": "render"})
    page = open_page(at("/"))
    page.clock.set_fixed_time(datetime.now(UTC) + timedelta(hours=5))
    page.goto(at("/jobs"))
    row = page.locator("tr[data-job]")
    expect(row).to_contain_text("render")
    expect(row).not_to_contain_text("h ago")


def test_a_paused_page_hears_nothing_and_shows_later_what_it_missed(
    gateway: RunningGateway, open_page: OpenPage, at: At
) -> None:
    gateway.call("POST", "/api/jobs", {"kind": "render"})
    page = open_page("about:blank")
    page.add_init_script(REMEMBER_STREAMS)
    page.goto(at("/jobs"))
    rows = page.locator("tr[data-job]")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Live").click()
    paused = page.get_by_role("button", name="Paused")
    expect(paused).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("window.heard[0].readyState === EventSource.CLOSED")
    gateway.call("POST", "/api/jobs", {"kind": "render"})
    paused.click()
    page.get_by_role("button", name="1 new – show").click()
    expect(rows).to_have_count(2)


def test_the_log_and_the_progress_of_a_running_job_come_by_themselves(
    gateway: RunningGateway, open_page: OpenPage, at: At, database_url: str, psql: Psql
) -> None:
    job = gateway.call("POST", "/api/jobs", {"kind": "render"}).body["id"]
    psql(database_url, f"select leasehold.claim_jobs('{WORKER}', 'pod-1')")

    line = f"array[{job}], array[1], array[clock_timestamp()], array['info']"

    def write(*messages: str) -> None:
        for message in messages:
            psql(database_url, f"select leasehold.write_job_logs({line}, array['{message}'])")

    write("first")
    page = open_page("about:blank")
    page.add_init_script(COUNT_REASONS)
    page.goto(at(f"/jobs/{job}"))
    log = page.get_by_role("log")
    expect(log.locator("bdi")).to_have_text(["first"])
    expect(page.locator("body")).to_contain_text("Live")
    write("second", "third")
    expect(log.locator("bdi")).to_have_text(["first", "second", "third"])
    asked = count_requests(page, "/logs")
    seen = ["first", "second", "third"]
    for message in ("fourth", "fifth", "sixth", "seventh", "eighth"):
        write(message)
        seen.append(message)
        expect(log.locator("bdi")).to_have_text(seen)
    psql(
        database_url,
        f"select leasehold.report_progress('{WORKER}', array[{job}], array[1], array[0.25], array['a quarter'])",
    )
    expect(page.get_by_role("region", name="Progress")).to_contain_text("a quarter")
    # However often the connection breaks meanwhile: never for a line.
    loads = len(asked)
    assert loads <= page.evaluate("window.reasons")


def test_a_list_of_schedules_hears_of_changes(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    gateway.call("POST", "/api/schedules", {"name": "nightly", "kind": "report", "cron": "0 3 * * *"})
    page = open_page(at("/schedules"))
    expect(page.get_by_role("link", name="nightly")).to_be_visible()
    gateway.call("POST", "/api/schedules", {"name": "hourly", "kind": "report", "every": 3600})
    expect(page.get_by_role("link", name="hourly")).to_be_visible()
    gateway.call("DELETE", "/api/schedules/nightly")
    expect(page.get_by_role("link", name="nightly")).to_have_count(0)
