"""Views of the list of jobs that have a name, its columns, and the palette that leads to them."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.gateway.dashboard.axe import faults_of
from tests.gateway.dashboard.conftest import At, OpenPage
from tests.gateway.dashboard.hostile import HOSTILE, is_too_wide
from tests.gateway.dashboard.test_pages import enqueue
from tests.gateway.fakes.running import RunningGateway


def save_as(page: Page, name: str) -> None:
    page.get_by_role("button", name="Save this view").click()
    page.get_by_role("dialog").get_by_label("Name").fill(name)
    page.get_by_role("button", name="Save it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator(".toast")).to_have_count(0)


def test_a_view_is_kept_under_its_name_with_filter_and_columns(
    gateway: RunningGateway, open_page: OpenPage, at: At
) -> None:
    enqueue(gateway, "charge")
    enqueue(gateway, "mail")
    page = open_page(at("/jobs?q=kind:charge"))
    page.get_by_text("Columns").click()
    page.get_by_label("Priority").click()
    expect(page.get_by_role("columnheader", name="Priority")).to_be_visible()
    save_as(page, "Charges")
    assert faults_of(page) == []
    page.goto(at("/jobs?columns=queue"))
    expect(page.locator("tr[data-job]")).to_have_count(2)
    expect(page.get_by_role("columnheader", name="Priority")).to_have_count(0)
    views = page.get_by_role("navigation", name="Saved views")
    views.get_by_role("link", name="Charges").click()
    expect(page.locator("tr[data-job]")).to_have_count(1)
    expect(page.get_by_role("columnheader", name="Priority")).to_be_visible()
    expect(page.get_by_label("Filter jobs")).to_have_value("kind:charge")
    expect(views.get_by_role("link", name="Charges")).to_have_attribute("aria-current", "true")
    page.reload()
    views.get_by_role("button", name="Forget the view Charges").click()
    expect(views.get_by_role("link")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("button", name="Save this view")).to_be_visible()
    expect(views.get_by_role("link")).to_have_count(0)


def test_the_address_alone_says_which_columns_there_are(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    enqueue(gateway, "charge")
    page = open_page(at("/jobs?columns=worker"))
    expect(page.get_by_role("columnheader")).to_have_text(["", "Id", "Kind", "State", "Worker"])
    page.get_by_role("navigation", name="States").get_by_role("link", name="pending").click()
    expect(page).to_have_url(at("/jobs?q=state%3Apending&columns=worker"))
    page.get_by_text("Columns").click()
    page.get_by_label("Worker").click()
    expect(page.get_by_role("columnheader")).to_have_text(["", "Id", "Kind", "State"])
    page.reload()
    expect(page.get_by_role("columnheader")).to_have_text(["", "Id", "Kind", "State"])


def test_the_palette_leads_to_views_and_does_things(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    enqueue(gateway, "two words")
    page = open_page(at("/jobs?q=state:pending"))
    save_as(page, "What waits")
    page.goto(at("/"))
    expect(page.get_by_role("heading", name="Queues")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_label("Go to a page").fill("what w")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Filter jobs")).to_have_value("state:pending")
    page.keyboard.press("Control+k")
    page.get_by_label("Go to a page").fill("pause")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Paused")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Control+k")
    page.get_by_label("Go to a page").fill("two words")
    page.get_by_role("option", name="Jobs of kind two words").click()
    expect(page.get_by_label("Filter jobs")).to_have_value('kind:"two words"')
    expect(page.locator("tr[data-job]")).to_have_count(1)


def test_hostile_names_of_views_are_only_text(open_page: OpenPage, at: At) -> None:
    page = open_page(at("/jobs"), viewport={"width": 390, "height": 800})
    views = page.get_by_role("navigation", name="Saved views")
    for text in HOSTILE:
        save_as(page, text[:80])
    expect(views.get_by_role("link")).to_have_text([text[:80] for text in HOSTILE])
    assert not is_too_wide(page)
    page.evaluate("localStorage.setItem('leasehold.views', '[{\"name\": 7}, null, \"x\"]')")
    page.reload()
    expect(page.get_by_role("button", name="Save this view")).to_be_visible()
    expect(views.get_by_role("link")).to_have_count(0)
