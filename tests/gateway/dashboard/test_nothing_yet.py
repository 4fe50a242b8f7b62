"""A database without anything: each page says that there is nothing, and what to do."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.gateway.dashboard.conftest import At, OpenPage
from tests.gateway.dashboard.visits import visit

SAID = {
    "/queues": ["There are no queues yet."],
    "/queues/nobody": ["Nothing is known of this queue yet.", "It has no limits"],
    "/workers": ["No worker is there."],
    "/workers/nobody": ["There is no such worker"],
    "/capacity": ["No queue has had a job yet"],
    "/capacity/nobody": ["Nothing is known of a queue nobody"],
}


def test_an_empty_database_says_what_to_do(open_page: OpenPage, at: At) -> None:
    page = open_page(at("/"))
    expect(page.get_by_text("There are no queues yet.")).to_be_visible()
    page.get_by_role("link", name="Jobs", exact=True).click()
    expect(page.get_by_text("There are no jobs yet.")).to_be_visible()
    assert page.url == at("/jobs")
    page.go_back()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.keyboard.type("gf")
    expect(page.get_by_text("Nothing has failed in this time.")).to_be_visible()
    page.get_by_role("link", name="Look at the last 30 days").click()
    expect(page).to_have_url(at("/failures?time=30d"))
    for path, texts in SAID.items():
        visit(page, at(path))
        for text in texts:
            expect(page.get_by_text(text)).to_be_visible()
