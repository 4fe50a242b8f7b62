"""The queues and one queue: what they show, and pausing, limiting and ageing them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.conftest import Psql
from tests.gateway.dashboard.conftest import At, OpenPage
from tests.gateway.dashboard.fleet import register
from tests.gateway.dashboard.test_pages import HOSTILE, enqueue
from tests.gateway.dashboard.test_signing_in import until
from tests.gateway.dashboard.visits import visit
from tests.gateway.fakes.running import RunningGateway
from tests.leasehold.client.nouns.test_capacity import SEED

WAITS = ("p50_wait", "p95_wait", "p50_run", "p95_run")
BOOKS = f"{SEED} select leasehold.close_minutes();"


def row(page: Page, queue: str) -> Locator:
    return page.locator("tr[data-queue]").filter(has=page.get_by_role("link", name=queue, exact=True))


def limits_of(gateway: RunningGateway, queue: str) -> list[dict[str, Any]]:
    return gateway.call("GET", f"/api/queues/{queue}/limits").body["items"]


def test_a_queue_is_paused_with_its_reason_and_resumed(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    for queue in ("mail", "pay"):
        enqueue(gateway, "k", queue=queue)
    page = open_page(at("/queues"))
    expect(page.locator("tr[data-queue]")).to_have_count(2)
    expect(row(page, "mail")).to_contain_text("1 kind(s) unserved")
    row(page, "mail").get_by_role("button", name="Pause mail").click()
    page.get_by_label("Why (shown to whoever wonders)").fill("the server is down")
    page.get_by_role("button", name="Pause it").click()
    expect(row(page, "mail")).to_contain_text("paused")
    expect(row(page, "mail").get_by_title("the server is down")).to_be_visible()
    row(page, "mail").get_by_role("link", name="mail").click()
    expect(page.get_by_label("What it waits for")).to_contain_text("the server is down")
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_label("What it waits for")).to_have_text("no live worker serves kind k; 1 pending")


def test_the_filter_of_queues_is_in_the_address(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    for queue in ("mail", "pay"):
        enqueue(gateway, "k", queue=queue)
    page = open_page(at("/queues"))
    page.get_by_label("Filter queues").fill("AI")
    expect(page.locator("tr[data-queue]")).to_have_count(1)
    page.reload()
    expect(page.get_by_label("Filter queues")).to_have_value("AI")
    page.get_by_label("Filter queues").fill("zzz")
    page.get_by_role("link", name="Show all 2").click()
    expect(page.locator("tr[data-queue]")).to_have_count(2)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(("minutes", "shown"), [(0, "No minute has been closed yet"), (60, "Table of Rates")])
def test_what_stands_below_the_charts_does_not_move_when_they_come(
    open_page: OpenPage, at: At, minutes: int, shown: str, width: int
) -> None:
    """A click that begins on a button and ends where that was is no click."""
    minute = {"seconds": 60, "arrivals": 3, "completed": 2, "failed": 1, **dict.fromkeys(WAITS, 0.1)}
    page, held = open_page("about:blank", viewport={"width": width, "height": 1800}), list[Route]()
    page.route("**/api/**/history**", lambda route: held.append(route))  # noqa: PLW0108  it knows no built-in
    page.goto(at("/queues/crawl"))
    until(page, held)
    button = page.get_by_role("button", name="Add a limit")
    expect(page.get_by_text("Loading…")).to_have_count(3)
    before = button.bounding_box()
    held[0].fulfill(json={"items": [{"at": f"2026-03-01T12:{n:02}:00Z", **minute} for n in range(minutes)]})
    expect(page.get_by_text(shown).first).to_be_visible()
    assert button.bounding_box() == before


def test_limits_are_set_changed_and_removed(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    enqueue(gateway, "k", queue="crawl", key_group="shop 7")
    page = open_page(at("/queues/crawl"), viewport={"width": 1280, "height": 1800})
    page.get_by_role("button", name="Add a limit").click()
    page.get_by_role("button", name="Set it").click()
    expect(page.get_by_text("Say how many may run at once, or how many may start.")).to_be_visible()
    page.get_by_label("Running at once, at most").fill("5")
    page.get_by_role("button", name="Set it").click()
    expect(page.get_by_role("row", name="the queue as a whole")).to_contain_text("0 of 5")
    page.get_by_role("button", name="Limit shop 7").click()
    page.get_by_label("Starts, at most").fill("30")
    page.get_by_label("In", exact=True).select_option(label="a minute")
    page.get_by_label("Of them at once, after a pause").fill("4")
    page.get_by_role("button", name="Set it").click()
    expect(page.get_by_role("row", name="key group shop 7")).to_contain_text("30 a minute, 4 at once")
    assert [(each["key_group"], each["rate"], each["burst"]) for each in limits_of(gateway, "crawl")] == [
        ("", None, None),
        ("shop 7", 0.5, 4),
    ]
    page.get_by_role("button", name="Change the queue as a whole").click()
    expect(page.get_by_label("Running at once, at most")).to_have_value("5")
    page.get_by_label("Running at once, at most").fill("0")
    page.get_by_role("button", name="Set it").click()
    expect(page.get_by_label("What it waits for")).to_contain_text("it may have 0 running at once, and 0 are held")
    page.get_by_role("button", name="Remove the queue as a whole").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page.get_by_role("row", name="the queue as a whole")).to_have_count(0)
    assert [each["key_group"] for each in limits_of(gateway, "crawl")] == ["shop 7"]


def test_ageing_is_set_and_turned_off(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    enqueue(gateway, "k", queue="crawl")
    page = open_page(at("/queues/crawl"))
    page.get_by_role("button", name="Ageing").click()
    page.get_by_label("One priority more for every").fill("2")
    page.get_by_label("Unit").select_option(label="hours")
    page.get_by_role("button", name="Set it").click()
    expect(page.get_by_text("ages by 2 h")).to_be_visible()
    assert gateway.call("GET", "/api/queues").body["items"][0]["ageing_seconds"] == 7200
    page.get_by_role("button", name="Ageing").click()
    expect(page.get_by_label("One priority more for every")).to_have_value("2")
    page.get_by_role("button", name="Turn it off").click()
    expect(page.get_by_text("ages by")).to_have_count(0)


def test_what_happened_is_drawn_and_told_in_a_table(
    gateway: RunningGateway, open_page: OpenPage, at: At, psql: Psql, database_url: str
) -> None:
    psql(database_url, BOOKS)
    page = open_page(at("/queues/crawl"))
    chart = page.get_by_role("img", name=re.compile("Run times. p50: 3")).first
    expect(chart).to_be_visible()
    chart.hover()
    page.get_by_role("link", name="24h").click()
    expect(page).to_have_url(at("/queues/crawl?span=24h"))
    expect(page.get_by_role("img", name=re.compile("Run times. p50: 3")).first).to_be_visible()
    page.get_by_text("Table of Waits").click()
    expect(page.get_by_role("cell", name="49 s").first).to_be_visible()


def test_hostile_names_of_queues_and_groups_are_only_text(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    for text in HOSTILE:
        enqueue(gateway, "k", queue=text, key_group=text)
    page = open_page(at("/queues"))
    expect(page.locator("tr[data-queue]")).to_have_count(len(HOSTILE))
    for number in range(len(HOSTILE)):
        link = page.locator("tr[data-queue] td.name a").nth(number)
        name = link.inner_text()
        link.click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect(page.locator("td").get_by_text(name, exact=True).first).to_be_visible()
        visit(page, at(f"/capacity{page.evaluate('location.pathname').removeprefix('/queues')}"))
        expect(page.get_by_role("heading", level=1)).to_contain_text(name)
        visit(page, at("/queues"))


@pytest.mark.usefixtures("gateway")
def test_the_overview_leads_to_a_queue_and_to_the_workers(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    enqueue(gateway, "k", queue="mail")
    register(gateway, "w-1", queues=["mail"], kinds=["k"])
    page = open_page(at("/"))
    page.get_by_role("link", name="worker(s) ready").click()
    expect(page).to_have_url(at("/workers"))
    page.go_back()
    page.get_by_role("link", name="mail", exact=True).click()
    expect(page).to_have_url(at("/queues/mail"))
    for letter, path in [("q", "/queues"), ("w", "/workers"), ("s", "/schedules"), ("c", "/capacity")]:
        page.keyboard.type(f"g{letter}")
        expect(page).to_have_url(at(path))
