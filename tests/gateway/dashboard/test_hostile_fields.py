"""Strings that would be more than text, words of 8 kB and half a character, in every field that takes text."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Page, expect

from tests.gateway.dashboard.conftest import OpenPage, Serve, sign_in
from tests.gateway.dashboard.hostile import HOSTILE, is_too_wide
from tests.gateway.dashboard.test_signing_in import BEARER, SECRET
from tests.gateway.dashboard.visits import visit
from tests.gateway.fakes.running import RunningGateway
from tests.support.saved import save

PHONE = {"width": 390, "height": 800}
LONG = "w" * 8192
HALF = "\ud800"
"""Half of a character of UTF-16, which no UTF-8 has."""
MARKUP, PROTO, TURNED, PATH, QUOTES, BROAD, ENDING, PILED = HOSTILE
TEXTS = [f"{MARKUP} {TURNED} {QUOTES} {PILED}", f"{ENDING} {PATH}", PROTO, BROAD, LONG, f"half {HALF} a character"]
"""Some of them in one text, as long as the narrowest field lets it be: each costs a look at every form."""

FILL = """([codes, given]) => {
    const text = String.fromCharCode(...codes);
    const object = JSON.stringify({ [text]: text, ["__proto__"]: { [text]: text } });
    const form = document.querySelector("dialog form") ?? document.querySelector("main form");
    const fields = [...form.elements].filter((each) => each.matches("textarea, input:not([type]), [type=text], [type=search]"));
    for (const field of fields) {
        if (given[field.name] === null) continue;
        field.value = given[field.name] ?? (field.matches("textarea") ? object : text);
        for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
    }
    return fields.map((each) => each.name);
}"""
WRITE = """(box, codes) => {
    box.value = String.fromCharCode(...codes);
    box.dispatchEvent(new Event("input", { bubbles: true }));
}"""
ANSWERS = "dialog [role=alert], main [role=alert], .toast, main [role=status] a, [data-part=secret]"
ANSWER = f"""() => [...document.querySelectorAll("{ANSWERS}")].map((each) => each.textContent).find(Boolean)
    ?? (document.querySelector("dialog[open]") ? null : "closed")"""
CLEAR = """() => document.querySelectorAll(".toast button, dialog:has([data-part=secret]) .first")
    .forEach((each) => each.click())"""
"""What was said of the form before is read, and stays no longer."""
BROKEN = """() => document.title === "broken" || ({}).x !== undefined
    || document.querySelector("main script, main img, main [onload], main [onerror], .toasts img") !== null"""


class Form(msgspec.Struct, frozen=True):
    """A form: the page it is on, what opens it, what sends it, and what is written into fields that take no text (null: left)."""

    path: str
    opener: str | None
    sender: str
    given: dict[str, str | None] = {}
    chosen: Sequence[tuple[str, str]] = ()
    """Lists to choose this from, and boxes to check."""


NUMBERS = ["priority", "delay", "max_attempts", "timeout", "run_at"]
FORMS = {
    "a new job": Form("/enqueue", None, "Enqueue", dict.fromkeys([*NUMBERS, "unique_by"])),
    "a job that is the only one": Form("/enqueue", None, "Enqueue", dict.fromkeys([*NUMBERS, "unique_key"])),
    "a job": Form("/jobs/{job}", "Edit", "Change it"),
    "a limit": Form("/queues/crawl", "Add a limit", "Set it", {}, [("[name=on]", "one")]),
    "a pause": Form("/queues/crawl", "Pause crawl", "Pause it"),
    "a schedule": Form("/schedules", "New schedule", "Make it", {"cron": "0 0 * * *", "zone": "UTC"}),
    "when": Form("/schedules", "New schedule", "Make it"),
    "a token": Form("/tokens", "New token", "Make it", {}, [("[value=read]", "")]),
    "an identity": Form("/egress", "New identity", "Add it", {"locale": "en-US"}),
    "an address that an identity is tested at": Form("/egress", "Test direct", "Send it"),
    "a view": Form("/jobs?q=kind:crawl", "Save this view", "Save it"),
}  # fmt: skip
LISTS = ["/audit", "/payloads", "/chains", "/failures"]
FILTERS = {"/jobs": "Filter jobs", "/queues": "Filter queues", "/workers": "Filter workers"}


@pytest.fixture
def signed_in(serve: Serve, open_page: OpenPage) -> tuple[RunningGateway, Page]:
    gateway = serve(gateway_token=SECRET)
    page = open_page(gateway.url("/"), refusals=True, viewport=PHONE)
    sign_in(page, SECRET)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    return gateway, page


def codes(text: str) -> list[int]:
    """As JavaScript has them: half a character cannot be sent to the browser in another way."""
    return [ord(each) for each in text]


def fill(page: Page, text: str, given: dict[str, Any]) -> None:
    assert page.evaluate(FILL, [codes(text), given])


def test_a_form_takes_it_as_text_or_says_why_not(
    signed_in: tuple[RunningGateway, Page], subtests: pytest.Subtests
) -> None:
    gateway, page = signed_in
    for (name, form), text in product(FORMS.items(), TEXTS):
        with subtests.test(name, text=text[:30]):
            send(gateway, page, form, text)


def send(gateway: RunningGateway, page: Page, form: Form, text: str) -> None:
    job = gateway.call("POST", "/api/jobs", {"kind": "crawl", "queue": "crawl", "delay": 3600}, BEARER).body["id"]
    gateway.call("POST", "/api/egress", {"name": "direct"}, BEARER)
    gateway.call("POST", "/api/queues/crawl/resume", None, BEARER)
    page.evaluate(CLEAR)
    visit(page, gateway.url(form.path.format(job=job)))
    if form.opener:
        page.get_by_role("button", name=form.opener, exact=True).click()
    expect(page.get_by_role("button", name=form.sender, exact=True)).to_be_visible()
    for chosen, option in form.chosen:
        field = page.locator(chosen)
        field.select_option(option) if option else field.check()
    fill(page, text, form.given)
    page.get_by_role("button", name=form.sender, exact=True).click()
    said = page.wait_for_function(ANSWER).json_value()
    print(f"{form.path}: {text[:20]!a}: {said[:200]!a}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert not page.evaluate(BROKEN)
    assert not is_too_wide(page), said


def test_a_list_is_narrowed_down_by_it_as_text(signed_in: tuple[RunningGateway, Page]) -> None:
    gateway, page = signed_in
    for path, text in product(LISTS, TEXTS):
        if text == TEXTS[0]:
            visit(page, gateway.url(path))
            expect(page.get_by_role("button", name="Find")).to_be_visible()
        before = page.url
        fill(page, text, {})
        page.get_by_role("button", name="Find").click()
        check_narrowed(page, text, before)


def test_what_two_payloads_are_compared_by_is_text_and_so_is_what_has_changed(
    serve: Serve, open_page: OpenPage, database_url: str, tmp_path: Path
) -> None:
    was, now = (
        {"data": {"products": [{"id": n, "name": name, "price": price} for n, name in enumerate(HOSTILE)]}}
        for price in ("cheap", MARKUP)
    )
    with ThreadPoolExecutor(1) as thread:  # the driver of the browser has a loop in this one
        saved = thread.submit(save, database_url, tmp_path, was, now, key="101", metadata={}).result()
    url = serve(payloads_store=str(tmp_path)).url(f"/payloads/{saved[-1].id}")
    page = open_page(url, refusals=True, viewport=PHONE)
    for text in TEXTS:
        before = page.url
        expect(page.get_by_role("button", name="Find")).to_be_visible()
        fill(page, text, {})
        page.get_by_role("button", name="Find").click()
        check_narrowed(page, text, before)
    fill(page, "", {"records": "data.products", "record_key": "", "fields": "price"})
    page.get_by_role("button", name="Find").click()
    for number, name in enumerate(HOSTILE):
        expect(page.get_by_role("table").get_by_role("row").nth(number + 1)).to_contain_text(name)
    assert not page.evaluate(BROKEN)
    assert not is_too_wide(page)


def test_a_filter_takes_it_as_text(signed_in: tuple[RunningGateway, Page]) -> None:
    gateway, page = signed_in
    gateway.call("POST", "/api/jobs", {"kind": "crawl", "queue": "crawl"}, BEARER)
    for (path, label), text in product(FILTERS.items(), TEXTS):
        if text == TEXTS[0]:
            visit(page, gateway.url(path))
        before, box = page.url, page.get_by_label(label)
        box.evaluate(WRITE, codes(text))
        box.press("Enter")
        check_narrowed(page, text, before)


def check_narrowed(page: Page, text: str, before: str) -> None:
    """The address has the text, and the page shows nothing or says what is wrong with it."""
    page.wait_for_function("before => location.href !== before", arg=before)
    expect(page.locator("main .empty, main [role=alert], main .trouble").first).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert not page.evaluate(BROKEN), (before, text[:30])
    assert not is_too_wide(page), (before, text[:30])
