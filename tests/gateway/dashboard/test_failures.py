"""Failures by fingerprint, and retrying all jobs of a group."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.conftest import Psql
from tests.gateway.dashboard.conftest import At, OpenPage
from tests.gateway.dashboard.hostile import HOSTILE
from tests.gateway.fakes.failing import fail_jobs
from tests.gateway.fakes.running import RunningGateway

Fail = Callable[..., list[int]]


@pytest.fixture
def fail(gateway: RunningGateway, database_url: str, psql: Psql) -> Fail:
    return partial(fail_jobs, psql, database_url, gateway)


def test_failures_are_grouped_and_come_live(fail: Fail, open_page: OpenPage, at: At) -> None:
    fail("charge", jobs=3)
    fail("mail", "KeyError", place="shop.py:9 in send")
    page = open_page(at("/failures"))
    rows = page.locator("tr[data-group]")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("shop.py:9 in send")
    expect(rows.nth(1).locator("> td").nth(4)).to_have_text("3")
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    fail("charge")
    expect(rows.nth(0).locator("> td").nth(4)).to_have_text("4")
    page.get_by_label("Kind").fill("mail")
    page.get_by_role("button", name="Find").click()
    expect(rows).to_have_count(1)
    page.reload()
    expect(page.get_by_label("Kind")).to_have_value("mail")
    expect(rows).to_have_count(1)


def test_a_group_says_which_way_it_goes_and_what_the_word_means(
    fail: Fail, open_page: OpenPage, at: At, database_url: str, psql: Psql
) -> None:
    for kind in ("quiet", "rising", "steady"):
        fail(kind, jobs=3)
    psql(database_url, "update leasehold.finished_jobs set finished_at = finished_at - interval '6 hours'")
    for kind, jobs in (("new", 1), ("rising", 3), ("steady", 1)):
        fail(kind, jobs=jobs)
    page = open_page(at("/failures"))
    trends = page.locator("tr[data-group] .badge")
    expect(trends).to_have_text(["steady", "rising", "new", "quiet"])
    for each in trends.all():
        expect(each).to_have_attribute("title", re.compile("the last sixth of this time"))
    page.get_by_role("link", name="last 1h").click()
    expect(trends).to_have_text(["new", "new", "new"])
    page.get_by_role("link", name="ValueError").first.click()
    expect(page.get_by_role("definition").filter(has_text="new")).to_be_visible()


def test_all_jobs_of_a_group_are_retried_after_a_trial(
    gateway: RunningGateway, fail: Fail, open_page: OpenPage, at: At
) -> None:
    ids = fail("charge", jobs=3)
    fail("charge", "KeyError")
    page = open_page(at("/failures"))
    page.get_by_role("link", name="ValueError").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("ValueError")
    expect(page.get_by_role("definition").nth(2)).to_contain_text("3 job(s) failed for good")
    expect(page.get_by_role("table", name="Failures over time").get_by_role("row")).to_have_count(25)
    page.get_by_role("button", name="Retry all").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Retry 3 job(s)?")
    assert gateway.call("GET", f"/api/jobs/{ids[0]}").body["state"] == "failed"
    dialog.get_by_role("button", name="Retry 3").click()
    expect(page.get_by_text("3 job(s) made to run again.")).to_be_visible()
    assert {gateway.call("GET", f"/api/jobs/{each}").body["state"] for each in ids} == {"pending"}
    expect(page.get_by_text("This has not failed in this time.")).to_be_visible()


def test_hostile_text_of_errors_is_only_text(fail: Fail, open_page: OpenPage, at: At) -> None:
    for text in HOSTILE:
        fail(text, text, message=text, place=text)
    page = open_page(at("/failures"))
    rows = page.locator("tr[data-group]")
    expect(rows).to_have_count(len(HOSTILE))
    for number, text in enumerate(reversed(HOSTILE)):
        expect(rows.nth(number)).to_contain_text(text)
    rows.nth(0).get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(HOSTILE[-1])
