"""How it looks: themes, states that are never colour alone, and what a phone shows instead of a side and of tables."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.conftest import Psql
from tests.gateway.dashboard.conftest import At, OpenPage
from tests.gateway.dashboard.fleet import incarnation_of, register
from tests.gateway.dashboard.test_pages import enqueue
from tests.gateway.fakes.running import RunningGateway

CLAIM = f"select leasehold.claim_jobs('{incarnation_of('w-1')}', 'w-1')"
SCALES = """async () => {
    const main = [...document.scripts].map((each) => each.src).find((each) => each.endsWith("main.js"));
    const { scaleOf } = await import(main.replace("main.js", "parts/charts/scale.js"));
    return [1, 2, 0.5].map((top) => scaleOf(top, (value) => String(Math.round(value))));
}"""
TABS = ("Overview", "Failures", "Jobs", "Workers", "More")


def test_states_are_glyphs_and_words_in_their_colours(open_page: OpenPage, at: At) -> None:
    page = open_page(at("/jobs"))
    expect(page.get_by_role("heading", name="Jobs")).to_be_visible()
    chips = page.get_by_role("navigation", name="States").get_by_role("link")
    expect(chips.filter(has=page.locator("svg"))).to_have_count(chips.count() - 1)  # all but “all”
    shapes = chips.locator("svg").evaluate_all("all => all.map(each => each.innerHTML)")
    assert len(set(shapes)) == len(shapes)


def test_a_phone_has_five_tabs_and_rows_that_say_what_their_columns_are(
    gateway: RunningGateway, open_page: OpenPage, at: At
) -> None:
    gateway.call("POST", "/api/jobs", {"kind": "mail", "key": "shop-7"})
    page = open_page(at("/jobs"), viewport={"width": 390, "height": 800})
    row = page.locator("tr[data-job]")
    expect(row.locator("td[data-label=Key]")).to_contain_text("shop-7")
    beside = row.evaluate("row => [...row.cells].map(each => getComputedStyle(each, '::before').content)")
    assert '"Attempt "' in beside
    tabs = page.get_by_role("navigation", name="Pages")
    expect(tabs.locator("a:visible, button:visible")).to_have_text([re.compile(each) for each in TABS])
    tabs.get_by_role("button", name="More").click()
    tabs.get_by_role("link", name="Doctor").click()
    expect(page.get_by_role("heading", name="Doctor")).to_be_visible()
    expect(tabs.get_by_role("link", name="Doctor")).to_have_count(0)
    # On a wide screen the same table has a head.
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(at("/jobs"))
    expect(page.get_by_role("columnheader", name="Attempt")).to_be_visible()
    expect(tabs.get_by_role("link", name="Doctor")).to_be_visible()


def test_the_theme_is_kept(open_page: OpenPage, at: At) -> None:
    page = open_page(at("/"), color_scheme="light")
    for shown in ("auto", "light"):
        page.get_by_role("button", name=f"Theme: {shown}").click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 20, 22)"


def test_a_queue_whose_slots_are_all_in_use_is_no_alarm(
    gateway: RunningGateway, open_page: OpenPage, at: At, psql: Psql, database_url: str
) -> None:
    register(gateway, "w-1", queues=["crawl"], kinds=["fetch"], slots=1)
    enqueue(gateway, "fetch", queue="crawl")
    psql(database_url, CLAIM)
    page = open_page(at("/"))
    expect(page.get_by_role("img", name="Slots of crawl in use: 100 %")).to_have_attribute("data-tone", "busy")


def test_back_leads_to_where_one_was(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    for _ in range(50):
        enqueue(gateway, "crawl")
    page = open_page(at("/jobs"))
    rows = page.locator("tr[data-job]")
    expect(rows).to_have_count(50)
    rows.last.get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("crawl")
    expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
    page.go_back()
    expect(rows.last).to_be_in_viewport()
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).to_be_in_viewport()


def test_a_scale_says_no_number_twice(open_page: OpenPage, at: At) -> None:
    page = open_page(at("/"))
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert page.evaluate(SCALES) == [["1", "", "0"], ["2", "1", "0"], ["1", "", "0"]]
