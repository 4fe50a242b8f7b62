"""What a visit costs: bytes over the wire, and memory that does not grow with what is looked at."""

from __future__ import annotations

import re
from os import getloadavg
from typing import Any

from playwright.sync_api import Page, Route, expect

from tests.conftest import Psql
from tests.gateway.dashboard.conftest import At, OpenPage
from tests.gateway.dashboard.test_pages import enqueue
from tests.gateway.dashboard.visits import visit
from tests.gateway.fakes.running import RunningGateway

MOST_BYTES = 200_000
MEGABYTE = 1_000_000
ROWS = 5_000
EVENTS_IN_AN_HOUR = 3600
MANY = f"""
select count(*) from leasehold.enqueue_jobs(
    (select jsonb_agg(jsonb_build_object('kind', 'crawl')) from generate_series(1, {ROWS})), false)
"""
HEAR = """async (events) => {
    const main = [...document.scripts].map((each) => each.src).find((each) => each.endsWith("main.js"));
    const { state } = await import(main.replace("main.js", "base/live.js"));
    if (state.value !== "on") throw new Error("the page does not listen");
    window.heard.forEach((source) => {
        for (let at = 0; at < events; at += 1) {
            const change = { event: "job_completed", job_id: 1 + (at % 500), kind: "crawl", queue: "default" };
            source.dispatchEvent(new MessageEvent("changes", { data: JSON.stringify([change]) }));
        }
    });
}"""
REMEMBER_STREAMS = """
window.heard = [];
const Plain = window.EventSource;
window.EventSource = class extends Plain { constructor(...given) { super(...given); window.heard = [this]; } };
"""


OLDER = """async () => {
    const first = () => document.querySelector("tr[data-job]")?.dataset.job;
    const before = first();
    [...document.querySelectorAll(".pager a")].find((each) => each.textContent === "Older").click();
    await new Promise((done) => {
        const look = () => (first() && first() !== before ? done() : requestAnimationFrame(look));
        look();
    });
}"""
PAINTED = """async () => {
    const seen = await new Promise((done) => new PerformanceObserver((list) => {
        const found = Object.fromEntries(list.getEntries().map((each) => [each.name, each.startTime]));
        if (found["first-contentful-paint"]) done(found);
    }).observe({ type: "paint", buffered: true }));
    return { paint: Math.round(seen["first-paint"]), content: Math.round(seen["first-contentful-paint"]) };
}"""
HIDE = """(is) => {
    Object.defineProperty(document, "hidden", { value: is, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def heap(session: Any) -> float:
    """Bytes that are in use after everything that nobody needs is gone."""
    session.send("HeapProfiler.collectGarbage")
    return session.send("Runtime.getHeapUsage")["usedSize"]


def watched(page: Page) -> Any:
    session: Any = page.context.new_cdp_session(page)
    session.send("HeapProfiler.enable")
    return session


def test_a_first_visit_transfers_little(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    enqueue(gateway, "crawl")
    page = open_page("about:blank")
    session: Any = page.context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []

    def count(told: dict[str, float]) -> None:
        sizes.append(told["encodedDataLength"])

    session.on("Network.loadingFinished", count)
    page.goto(at("/"))
    expect(page.get_by_role("heading", name="Queues")).to_be_visible()
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    print(f"first visit: {sum(sizes):.0f} bytes in {len(sizes)} answers")
    assert 10_000 < sum(sizes) < MOST_BYTES


def test_memory_does_not_grow_with_the_pages_that_were_looked_at(
    gateway: RunningGateway, open_page: OpenPage, at: At, database_url: str, psql: Psql
) -> None:
    psql(database_url, MANY)
    page = open_page(at("/jobs"))
    session = watched(page)
    used: list[float] = []
    expect(page.get_by_role("link", name="Older")).to_be_visible()
    for number in range(ROWS // 50 - 1):
        page.evaluate(OLDER)
        if number % 25 == 23:
            used.append(heap(session))
    print("heap in MB:", [round(each / MEGABYTE, 1) for each in used])
    assert used[-1] - used[0] < 0.6 * MEGABYTE


def test_memory_does_not_grow_with_an_hour_of_events(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    for _ in range(60):
        enqueue(gateway, "crawl")
    page = open_page("about:blank")
    page.add_init_script(REMEMBER_STREAMS)
    page.goto(at("/jobs"))
    expect(page.locator("tr[data-job]")).to_have_count(50)
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    session = watched(page)
    page.evaluate(HEAR, EVENTS_IN_AN_HOUR)
    before = heap(session)
    for _ in range(4):
        page.evaluate(HEAR, EVENTS_IN_AN_HOUR)
    after = heap(session)
    print(f"heap in MB: {before / MEGABYTE:.1f} after one hour of events, {after / MEGABYTE:.1f} after five")
    assert after - before < 2 * MEGABYTE


def test_a_hidden_tab_stops_the_stream_and_catches_up(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    page = open_page(at("/jobs"))
    expect(page.get_by_text("There are no jobs yet.")).to_be_visible()
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    page.evaluate(HIDE, True)
    expect(page.get_by_role("button", name="Paused")).to_be_visible()
    job_id = enqueue(gateway, "mail")
    page.evaluate(HIDE, False)
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    page.get_by_role("button", name="1 new – show").click()
    expect(page.locator(f"tr[data-job='{job_id}']")).to_be_visible()


def test_what_is_copied_on_plain_http_is_whole(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    """Where a page came over plain HTTP from another host, browsers have no clipboard for scripts."""
    job_id = enqueue(gateway, "mail", args={"big": 9007199254740993})
    page = open_page("about:blank")
    page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
        "document.execCommand = (what) => { window.copied = [what, document.activeElement.value]; return true; };"
    )
    page.goto(at(f"/jobs/{job_id}"))
    page.get_by_role("button", name="Copy Args").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    what, text = page.evaluate("window.copied")
    assert (what, "9007199254740993" in text) == ("copy", True)


def test_errors_stay_until_they_are_read(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    job_id = enqueue(gateway, "mail")
    page = open_page(at(f"/jobs/{job_id}"))

    def refuse(route: Route) -> None:
        route.fulfill(status=200, body="no json", content_type="application/json")

    page.route("**/cancel", refuse)
    page.clock.install()
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel it").click()
    toast = page.locator(".toast[data-tone='bad']")
    expect(toast).to_be_visible()
    page.clock.fast_forward(60_000)
    expect(toast).to_be_visible()
    toast.get_by_role("button", name="Dismiss").click()
    expect(toast).to_have_count(0)


def test_what_went_well_is_said_for_a_while_and_as_long_as_one_points_at_it(
    gateway: RunningGateway, open_page: OpenPage, at: At
) -> None:
    job_id = enqueue(gateway, "mail")
    page = open_page(at(f"/jobs/{job_id}"))
    page.clock.install()
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel it").click()
    toast = page.locator(".toast")
    toast.hover()
    page.clock.fast_forward(60_000)
    expect(toast).to_have_text(re.compile("It is cancelled."))
    page.mouse.move(0, 0)
    page.clock.fast_forward(60_000)
    expect(toast).to_have_count(0)


def test_what_failed_can_be_quoted(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    """The gateway's log has the id of each request."""
    job_id = enqueue(gateway, "mail")
    page = open_page(at(f"/jobs/{job_id}"), refusals=True)
    answered: list[str] = []
    page.on(
        "response",
        lambda answer: answered.append(answer.headers.get("x-request-id", "")) if answer.status == 409 else None,
    )
    page.get_by_role("button", name="Cancel", exact=True).click()
    gateway.call("POST", f"/api/jobs/{job_id}/cancel")
    page.get_by_role("button", name="Cancel it").click()
    said = page.locator(".toast[data-tone='bad']")
    expect(said).to_contain_text(re.compile("wrong_state, request [0-9a-f-]+"))
    expect(said).to_contain_text(answered[0])
    visit(page, at("/payloads/999999"))
    expect(page.get_by_role("alert")).to_contain_text(re.compile("unknown_payload, request [0-9a-f-]+"))
    visit(page, at("/egress"))
    page.get_by_role("button", name="New identity").click()
    page.get_by_label("Name").fill("no name")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("alert")).to_contain_text(re.compile("invalid_input, request [0-9a-f-]+"))


def test_how_soon_something_is_seen_is_printed(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    """A figure for docs/dashboard.md, not a promise: how long it takes depends on the machine and on who else uses it."""
    enqueue(gateway, "crawl")
    told: list[dict[str, float]] = []
    for _ in range(3):
        page = open_page(at("/"))
        expect(page.get_by_role("heading", name="Queues")).to_be_visible()
        told.append(page.evaluate(PAINTED))
    best, middle = (sorted(told, key=lambda each: each["paint"])[number] for number in (0, 1))
    print(f"first paint in ms, best and median of 3: {best}, {middle}; load {getloadavg()[0]:.1f}")
    assert all(0 < each["paint"] <= each["content"] for each in told)
