"""How it looks: themes, states that are never colour alone, and what a phone shows instead of a side and of tables."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.gateway.dashboard.conftest import OpenPage
from tests.gateway.fakes.running import RunningGateway

At = Callable[[str], str]

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
