"""Capacity: what each queue needs, the forecast against what happened, and what would become of it if."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Psql
from tests.gateway.dashboard.axe import faults_of
from tests.gateway.dashboard.conftest import At, OpenPage
from tests.gateway.dashboard.fleet import register
from tests.gateway.dashboard.test_pages import enqueue
from tests.gateway.dashboard.test_queues import BOOKS
from tests.gateway.dashboard.visits import visit
from tests.gateway.fakes.running import RunningGateway


@pytest.fixture
def books(gateway: RunningGateway, psql: Psql, database_url: str) -> RunningGateway:
    """With ten jobs done, 62 waiting, and one worker with two slots on a host of its own."""
    psql(database_url, BOOKS)
    return gateway


def outcome(page: Page, name: str) -> str:
    return page.get_by_role("row", name=name).get_by_role("cell").nth(1).inner_text()


def test_without_a_job_there_is_nothing_to_forecast(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    enqueue(gateway, "k", queue="mail")
    page = open_page(at("/capacity/mail"))
    expect(page.get_by_text("nobody knows how long one takes, and nothing can be forecast")).to_be_visible()


@pytest.mark.usefixtures("books")
def test_the_list_says_how_many_workers_each_queue_needs(open_page: OpenPage, at: At) -> None:
    page = open_page(at("/capacity"))
    cells = page.get_by_role("row", name="crawl").get_by_role("cell")
    expect(cells).to_have_text(["crawl", "0", "4 s", "61", "2 min 4 s", "1", "5", "1", "1", "1"])
    expect(cells.nth(6).get_by_title("There are 1")).to_be_visible()
    page.get_by_role("link", name="crawl").click()
    expect(page.get_by_text("needed to be through in 8 h")).to_be_visible()


@pytest.mark.usefixtures("books")
def test_the_forecast_stands_beside_what_happened(open_page: OpenPage, at: At) -> None:
    page = open_page(at("/capacity/crawl"))
    backlog = page.get_by_role("img", name=re.compile("Ready jobs, and the hour to come. happened"))
    expect(backlog).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("Wait of 95 of 100 jobs. happened: 1 min"))).to_be_visible()
    page.get_by_role("link", name="3h").click()
    expect(page).to_have_url(at("/capacity/crawl?span=3h"))
    expect(backlog).to_be_visible()


def test_what_if_follows_the_sliders(books: RunningGateway, open_page: OpenPage, at: At) -> None:
    register(books, "w-2", host="pod-2", queues=["crawl"], slots=2)
    register(books, "w-3", host="pod-2", queues=["crawl"], slots=2)
    page = open_page(at("/capacity/crawl"))
    expect(page.get_by_role("row", name="Workers", exact=False).get_by_role("cell")).to_have_text(["3", "3"])
    page.get_by_label("Workers", exact=False).and_(page.locator("[type=range]")).fill("6")
    expect(page.get_by_role("row", name="Slots 6")).to_contain_text("12")
    page.get_by_label("One node less: without pod-2 and its 2 worker(s)").click()
    expect(page).to_have_url(at("/capacity/crawl?workers=3&without=node"))
    page.reload()
    expect(page.get_by_role("row", name="Slots 6")).to_contain_text("8")
    asked = books.call("GET", "/api/jobs/capacity/crawl/what-if?workers=4").body["supposed"]["forecast"]
    assert asked["slots"] == 8
    page.get_by_role("button", name="As it is").click()
    expect(page).to_have_url(at("/capacity/crawl"))
    page.get_by_label("Workers", exact=False).and_(page.locator("[type=range]")).fill("0")
    expect(page.get_by_role("row", name="What is ready is gone in")).to_contain_text("never")


def test_the_forms_can_be_used_by_everybody(books: RunningGateway, open_page: OpenPage, at: At) -> None:
    page = open_page(at("/"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    for path, button in [
        ("/queues/crawl", "Add a limit"), ("/queues/crawl", "Ageing"), ("/queues/crawl", "Pause"), ("/schedules", "New schedule"),
        ("/tokens", "New token"), ("/jobs", "Save this view"),
    ]:  # fmt: skip
        visit(page, at(path))
        page.get_by_role("button", name=button).first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert faults_of(page) == [], button
