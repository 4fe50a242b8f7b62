"""The frame, the overview, the list of jobs and a job, as somebody sees them who may do everything."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.conftest import Psql
from tests.gateway.dashboard.conftest import At, OpenPage
from tests.gateway.dashboard.fleet import incarnation_of, register
from tests.gateway.dashboard.hostile import HOSTILE
from tests.gateway.dashboard.visits import visit
from tests.gateway.fakes.running import RunningGateway

CLAIM = f"select leasehold.claim_jobs('{incarnation_of('w-1')}', 'w-1', null, array['crawl'], 1, '600 s')"


def enqueue(gateway: RunningGateway, kind: str, **fields: Any) -> int:
    return gateway.done("POST", "/api/jobs", {"kind": kind, **fields})["id"]


def row(page: Page, job_id: int) -> Locator:
    return page.locator(f"tr[data-job='{job_id}']")


def test_the_overview_says_first_what_is_wrong(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    enqueue(gateway, "charge", queue="pay")
    enqueue(gateway, "mail", queue="post")
    gateway.call("POST", "/api/queues/post/pause")
    page = open_page(at("/"))
    found = page.get_by_role("list", name="What is wrong").get_by_role("listitem")
    # The doctor looks at the server of the tests by itself, when it comes to it.
    wrong = found.filter(has_not_text="Doctor, ")
    expect(wrong).to_have_count(2)
    expect(wrong.nth(0)).to_contain_text("No live worker serves 1 job(s) of kind charge in queue pay")
    expect(wrong.nth(1)).to_contain_text("Queue post is paused")
    expect(page.locator("tr[data-queue]")).to_have_count(2)
    wrong.nth(0).get_by_role("link").click()
    expect(page.get_by_label("Filter jobs")).to_have_value("state:pending kind:charge queue:pay")
    expect(page.locator("tr[data-job]")).to_have_count(1)


def test_the_filter_is_in_the_address(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    ids = [enqueue(gateway, "crawl", key=f"shop-{number}", args={"order": number}) for number in range(3)]
    page = open_page(at("/jobs"))
    expect(page.locator("tr[data-job]")).to_have_count(3)
    page.get_by_label("Filter jobs").fill("args.order:2")
    page.keyboard.press("Enter")
    expect(page.locator("tr[data-job]")).to_have_count(1)
    expect(row(page, ids[2])).to_be_visible()
    page.reload()
    expect(page.get_by_label("Filter jobs")).to_have_value("args.order:2")
    expect(page.locator("tr[data-job]")).to_have_count(1)
    about = enqueue(gateway, "crawl", metadata={"shop": {"id": 7}})
    page.get_by_label("Filter jobs").fill("metadata.shop.id:7")
    page.keyboard.press("Enter")
    expect(page.locator("tr[data-job]")).to_have_count(1)
    expect(row(page, about)).to_be_visible()
    page.get_by_label("Filter jobs").fill("color:red")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("“color:” is no qualifier")


def test_words_are_suggested(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    enqueue(gateway, "crawl", queue="shop queue")
    page = open_page(at("/jobs"))
    box = page.get_by_label("Filter jobs")
    box.fill("que")
    expect(page.get_by_role("option")).to_have_text(["queue:"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(box).to_have_value("queue:")
    expect(page.get_by_role("option")).to_have_text(['queue:"shop queue"'])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("tr[data-job]")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"shop\+queue"))


def test_a_kind_that_no_worker_serves_is_suggested(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    register(gateway, "w-1", kinds=["charge"])
    enqueue(gateway, "chrage")
    page = open_page(at("/jobs"))
    page.get_by_label("Filter jobs").fill("kind:ch")
    expect(page.get_by_role("option")).to_have_text(["kind:charge", "kind:chrage"])


def test_jobs_with_a_lease_that_has_run_out_are_found_and_bulk_actions_say_what_is_for_them(
    gateway: RunningGateway, open_page: OpenPage, at: At, database_url: str, psql: Psql
) -> None:
    register(gateway, "w-1")
    stale, running = enqueue(gateway, "crawl"), enqueue(gateway, "other")
    psql(database_url, CLAIM)
    psql(database_url, "update leasehold.jobs set lease_expires_at = now() - interval '1 s' where state = 'claimed'")
    psql(database_url, CLAIM.replace("crawl", "other"))
    page = open_page(at("/jobs?q=state:stale"))
    expect(row(page, stale)).to_be_visible()
    expect(row(page, running)).to_have_count(0)
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text(
        "Cancel: jobs whose lease has run out are taken back from the overview"
    )


def test_new_jobs_do_not_move_the_rows(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    first = enqueue(gateway, "crawl")
    page = open_page(at("/jobs"))
    expect(row(page, first)).to_be_visible()
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    second = enqueue(gateway, "crawl")
    news = page.get_by_role("button", name="1 new – show")
    expect(news).to_be_visible()
    expect(row(page, second)).to_have_count(0)
    gateway.call("POST", f"/api/jobs/{first}/cancel")
    expect(row(page, first)).to_contain_text("cancelled")
    news.click()
    expect(row(page, second)).to_be_visible()
    expect(news).to_have_count(0)


def test_a_range_of_jobs_is_cancelled_after_a_trial(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    ids = [enqueue(gateway, "crawl") for _ in range(5)]
    gateway.call("POST", f"/api/jobs/{ids[1]}/cancel")
    page = open_page(at("/jobs"))
    page.get_by_label(f"Choose job {ids[0]}").click()
    page.get_by_label(f"Choose job {ids[3]}").click(modifiers=["Shift"])
    expect(page.get_by_text("4 chosen:")).to_be_visible()
    page.get_by_role("button", name="Cancel", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Cancel 3 job(s)?")
    expect(dialog).to_contain_text("1 would stay as they are")
    dialog.get_by_role("button", name="Cancel 3").click()
    expect(page.get_by_text("3 job(s) cancelled, 1 left as they are.")).to_be_visible()
    expect(row(page, ids[3])).to_contain_text("cancelled")
    expect(row(page, ids[4])).to_contain_text("pending")


def test_many_jobs_are_retried_and_run_now_after_a_trial(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    ids = [enqueue(gateway, "crawl") for _ in range(2)]
    later = enqueue(gateway, "crawl", delay=3600)
    for each in ids:
        gateway.call("POST", f"/api/jobs/{each}/cancel")
    page = open_page(at("/jobs?q=state:cancelled"))
    page.get_by_role("button", name="Retry", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Retry 2").click()
    expect(page.get_by_text("2 job(s) made to run again")).to_be_visible()
    expect(page.get_by_text("No job matches.")).to_be_visible()
    page.get_by_role("link", name="Show all jobs").click()
    for each in ids:
        expect(row(page, each)).to_contain_text("pending")
    expect(row(page, later)).to_contain_text("scheduled")
    page.get_by_label(f"Choose job {later}").click()
    page.get_by_role("button", name="Run now", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Run now 1").click()
    expect(row(page, later)).to_contain_text("pending")


def test_all_that_match_are_taken_without_choosing(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    for kind in ("crawl", "crawl", "mail"):
        enqueue(gateway, kind)
    page = open_page(at("/jobs?q=kind:crawl"))
    expect(page.get_by_text("all that match:")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete 2").click()
    expect(page.get_by_text("No job matches.")).to_be_visible()
    assert len(gateway.call("GET", "/api/jobs").body["items"]) == 1


def test_all_that_match_follows_every_word_of_the_filter(
    gateway: RunningGateway, open_page: OpenPage, at: At, database_url: str, psql: Psql
) -> None:
    register(gateway, "w-1", queues=["default"], kinds=["crawl"], slots=4)
    ours, theirs = (enqueue(gateway, "crawl", args={"order": number}) for number in (7, 8))
    page = open_page(at("/jobs?q=args.order:7"))
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel 1").click()
    expect(row(page, ours)).to_contain_text("cancelled")
    assert gateway.call("GET", f"/api/jobs/{theirs}").body["state"] == "pending"
    about = enqueue(gateway, "crawl", metadata={"shop": 7})
    visit(page, at("/jobs?q=metadata.shop:7"))
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel 1").click()
    expect(row(page, about)).to_contain_text("cancelled")
    beyond = enqueue(gateway, "mail")
    psql(database_url, CLAIM)
    visit(page, at("/jobs?q=worker:w-1"))
    expect(row(page, theirs)).to_be_visible()
    expect(row(page, beyond)).to_have_count(0)
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel 1").click()
    expect(page.get_by_text("1 job(s) cancelled")).to_be_visible()
    assert gateway.call("GET", f"/api/jobs/{beyond}").body["state"] == "pending"


def test_a_job_is_shown_with_why_and_can_be_changed(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    job_id = enqueue(gateway, "charge", delay=3600, args={"big": 9007199254740993, "list": [1, {"a": None}]})
    page = open_page(at(f"/jobs/{job_id}"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("charge")
    expect(page.get_by_label("Why")).to_contain_text("its time is")
    expect(page.locator(".tree").first).to_contain_text("9007199254740993")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Priority").fill("7")
    page.get_by_label("Metadata").fill('{"big": 9007199254740993}')
    page.get_by_label("Why (for the timeline)").fill("they wait")
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_role("definition").filter(has_text=re.compile("^7$"))).to_be_visible()
    assert gateway_text(gateway, job_id).count(b"9007199254740993") == 2
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_text("It is due now.")).to_be_visible()
    expect(page.locator("h1 + .badge, .title .badge").first).to_have_text("pending")
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel it").click()
    expect(page.locator(".title .badge").first).to_have_text("cancelled")
    page.get_by_role("button", name="Retry").click()
    expect(page.locator(".title .badge").first).to_have_text("pending")
    page.get_by_role("button", name="Duplicate").click()
    page.get_by_role("button", name="Enqueue").click()
    expect(page).to_have_url(at(f"/jobs/{job_id + 1}"))
    assert b"9007199254740993" in gateway_text(gateway, job_id + 1)


def gateway_text(gateway: RunningGateway, job_id: int) -> bytes:
    return gateway.fetch(f"/api/jobs/{job_id}").body


def test_hostile_text_is_only_text(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    ids: list[int] = []
    for text in HOSTILE:
        fields = {"queue": text, "key": text, "args": {text: text, "__proto__": {"x": text}}, "metadata": {text: text}}
        ids.append(enqueue(gateway, text, **fields))
    page = open_page(at("/jobs"))
    expect(page.locator("tr[data-job]")).to_have_count(len(HOSTILE))
    for job_id, text in zip(ids, HOSTILE, strict=True):
        expect(row(page, job_id)).to_contain_text(text)
    for job_id, text in zip(ids, HOSTILE, strict=True):
        visit(page, at(f"/jobs/{job_id}"))
        expect(page.get_by_role("heading", level=1)).to_contain_text(text)
        expect(page.locator(".tree").first).to_contain_text("__proto__")
        page.get_by_role("definition").first.get_by_role("link").click()
        expect(row(page, job_id)).to_be_visible()
        expect(page.locator("tr[data-job]")).to_have_count(1)
    visit(page, at("/"))
    expect(page.locator("tr[data-queue]")).to_have_count(len(HOSTILE))


def test_the_keyboard_leads_everywhere(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    job_id = enqueue(gateway, "mail")
    page = open_page(at("/"))
    expect(page.get_by_role("heading", name="Queues")).to_be_visible()
    page.keyboard.type("gj")
    expect(page).to_have_url(at("/jobs"))
    expect(row(page, job_id)).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_label("Filter jobs")).to_be_focused()
    page.keyboard.press("Control+k")
    page.get_by_label("Go to a page").fill(str(job_id))
    page.keyboard.press("Enter")
    expect(page).to_have_url(at(f"/jobs/{job_id}"))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_what_is_not_there_is_said(open_page: OpenPage, at: At) -> None:
    page = open_page(at("/jobs/x"))
    expect(page.get_by_role("heading", name="Nothing is here")).to_be_visible()
    page = open_page(at("/nosuch"), refusals=True)
    expect(page.get_by_text("The dashboard has no page /nosuch.")).to_be_visible()
    page.get_by_role("link", name="Go to the overview").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
