"""Enqueueing by hand, tokens, the audit log, egress identities and payloads."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leasehold.egress import browser
from tests.conftest import Psql
from tests.gateway.dashboard.axe import faults_of
from tests.gateway.dashboard.conftest import At, OpenPage, Serve, sign_in
from tests.gateway.dashboard.hostile import HOSTILE, is_too_wide
from tests.gateway.dashboard.test_signing_in import SECRET, make_token
from tests.gateway.dashboard.visits import visit
from tests.gateway.fakes.running import RunningGateway
from tests.support.saved import AFTER, BEFORE, save


@pytest.fixture
def signed_in(serve: Serve, open_page: OpenPage) -> Callable[..., tuple[RunningGateway, Page]]:
    """A gateway with tokens, and a page that is signed in with these scopes."""

    def open_one(path: str, *scopes: str) -> tuple[RunningGateway, Page]:
        gateway = serve(gateway_token=SECRET)
        page = open_page(gateway.url(path))
        sign_in(page, make_token(gateway, *scopes) if scopes else SECRET)
        expect(page.get_by_role("button", name="Sign in")).to_have_count(0)
        return gateway, page

    return open_one


def test_a_job_is_enqueued_by_hand(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    page = open_page(at("/enqueue"))
    page.get_by_label("Args, a JSON object").fill('{"order": ')
    page.get_by_role("button", name="Enqueue").click()
    expect(page.get_by_text("A job needs a kind.")).to_be_visible()
    expect(page.get_by_text("It is no JSON")).to_be_visible()
    page.get_by_label("Kind").fill("charge")
    page.get_by_label("Args, a JSON object").fill("[1]")
    page.get_by_role("button", name="Enqueue").click()
    expect(page.get_by_role("alert")).to_contain_text("It must be a JSON object")
    page.get_by_label("Args, a JSON object").fill('{"order": 9007199254740993}')
    page.get_by_label("Priority").fill("many")
    page.get_by_role("button", name="Enqueue").click()
    expect(page.get_by_text("It must be a whole number.")).to_be_visible()
    page.get_by_label("Priority").fill("7")
    page.get_by_label("Seconds to wait first").fill("60")
    page.get_by_role("textbox", name="Key (one active job per key)").fill("shop 7")
    page.get_by_role("button", name="Enqueue").click()
    page.get_by_role("status").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("charge")
    expect(page.locator(".tree").first).to_contain_text("9007199254740993")
    (job,) = gateway.call("GET", "/api/jobs").body["items"]
    assert (job["state"], job["priority"], job["key"]) == ("scheduled", 7, "shop 7")


def test_a_job_is_enqueued_with_a_group_and_as_the_only_one(
    gateway: RunningGateway, open_page: OpenPage, at: At
) -> None:
    page = open_page(at("/enqueue"), refusals=True)
    page.get_by_label("Kind", exact=True).fill("charge")
    page.get_by_label("Key group").fill("tenant-3")
    page.get_by_label("Only one with the same").fill("kind, args.order")
    page.get_by_label("Or only one with this text").fill("order 7")
    page.get_by_label("Args, a JSON object").fill('{"order": 7}')
    page.get_by_role("button", name="Enqueue").click()
    expect(page.get_by_text("Give this or the text, not both.")).to_be_visible()
    page.get_by_label("Or only one with this text").fill("")
    page.get_by_role("button", name="Enqueue").click()
    expect(page.locator("main").get_by_role("status")).to_contain_text("It is enqueued as")
    page.get_by_role("button", name="Enqueue").click()
    expect(page.locator("main").get_by_role("status")).to_contain_text("It is there already")
    page.get_by_label("Where there is one already").select_option("reject")
    page.get_by_role("button", name="Enqueue").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert len(gateway.call("GET", "/api/jobs").body["items"]) == 1
    (found,) = gateway.call("GET", "/api/queues/default/groups").body["items"]
    assert found["key_group"] == "tenant-3"


def test_another_job_fills_the_form(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    kind, queue, *_, key, _ = HOSTILE
    fields = {"kind": kind, "queue": queue, "key": key, "args": {"big": kind}, "priority": 3}
    job_id = gateway.call("POST", "/api/jobs", fields).body["id"]
    page = open_page(at(f"/jobs/{job_id}"))
    page.get_by_role("button", name="Duplicate").click()
    page.get_by_role("link", name="Change it first").click()
    expect(page.get_by_label("Kind")).to_have_value(kind)
    expect(page.get_by_label("Queue")).to_have_value(queue)
    page.get_by_label("Priority").fill("4")
    page.get_by_role("button", name="Enqueue").click()
    expect(page.get_by_text("It is enqueued as")).to_be_visible()
    newest = gateway.call("GET", "/api/jobs?limit=1").body["items"][0]
    assert {name: newest[name] for name in fields} == fields | {"priority": 4}


def test_a_token_is_made_shown_once_and_revoked(signed_in: Callable[..., tuple[RunningGateway, Page]]) -> None:
    gateway, page = signed_in("/tokens")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect(page.get_by_text("No token is active.")).to_be_visible()
    page.get_by_role("button", name="New token").click()
    page.get_by_label("Name, as the audit log").fill("shop")
    page.get_by_label("read: look at everything").check()
    page.get_by_label("Days until it ends").fill("30")
    page.get_by_role("button", name="Make it").click()
    secret = page.locator("[data-part=secret]").inner_text()
    assert gateway.call("GET", "/api/session", headers={"Authorization": f"Bearer {secret}"}).body["scopes"] == ["read"]
    page.get_by_role("button", name="Copy").click()
    page.wait_for_function("secret => navigator.clipboard.readText().then(text => text === secret)", arg=secret)
    page.get_by_role("button", name="I have it").click()
    expect(page.locator("[data-part=secret]")).to_have_count(0)
    expect(page.get_by_role("cell", name="shop", exact=True)).to_be_visible()
    assert secret not in page.content()
    page.get_by_role("button", name="Revoke shop").click()
    page.get_by_role("button", name="Revoke it").click()
    expect(page.get_by_text("No token is active.")).to_be_visible()
    page.get_by_role("link", name="all", exact=True).click()
    expect(page.get_by_role("cell", name="revoked")).to_be_visible()


def test_a_token_that_has_expired_is_revoked(
    signed_in: Callable[..., tuple[RunningGateway, Page]], psql: Psql, database_url: str
) -> None:
    _, page = signed_in("/tokens?everything=true", "admin")
    psql(
        database_url,
        "insert into leasehold.api_tokens (name, hash, prefix, scopes, created_at, created_by, expires_at) values"
        " ('old', sha256('old'), 'lh_abc123', '{read}', now() - interval '2 s', 'ada', now() - interval '1 s')",
    )
    page.reload()
    page.get_by_role("button", name="Revoke old").click()
    expect(page.get_by_text("a gateway on loopback serves everybody")).to_be_visible()
    page.get_by_role("button", name="Revoke it").click()
    expect(page.get_by_role("cell", name="revoked")).to_be_visible()
    expect(page.get_by_role("button", name="Revoke old")).to_have_count(0)


def test_the_first_token_stays_in_sight_although_everybody_has_to_sign_in_then(
    gateway: RunningGateway, open_page: OpenPage, at: At
) -> None:
    page = open_page(at("/tokens"), refusals=True)  # whatever it asks before it signs in
    page.get_by_role("button", name="New token").click()
    expect(page.get_by_text("From this one on, it asks everybody")).to_be_visible()
    page.get_by_label("Name, as the audit log").fill("ada")
    for scope in ("read", "admin"):
        page.get_by_label(f"{scope}:").check()
    page.get_by_role("button", name="Make it").click()
    secret = page.locator("[data-part=secret]").inner_text()
    page.get_by_role("button", name="I have it").click()
    while gateway.call("GET", "/api/tokens").status != 401:
        pass  # it hears of the token from the database
    page.goto(at("/tokens"))
    sign_in(page, secret)
    expect(page.get_by_role("cell", name="ada", exact=True)).to_be_visible()


def test_the_audit_log_tells_who_did_what(signed_in: Callable[..., tuple[RunningGateway, Page]]) -> None:
    gateway, page = signed_in("/audit")
    bearer = {"Authorization": f"Bearer {make_token(gateway, 'operate')}"}
    for number in range(3):
        gateway.call("POST", f"/api/queues/q{number}/pause", None, bearer)
    page.get_by_label("Who").fill("ada")
    page.get_by_role("button", name="Find").click()
    entries = page.locator("tr[data-entry]")
    expect(entries).to_have_count(3)
    expect(entries.nth(0)).to_contain_text("POST /api/queues/{queue}/pause")
    expect(entries.nth(0)).to_contain_text("q2")
    page.get_by_label("Who").fill("")
    page.get_by_label("What, from its beginning").fill("POST /api/tokens")
    page.get_by_role("button", name="Find").click()
    expect(entries).to_have_count(1)
    page.reload()
    expect(page.get_by_label("What, from its beginning")).to_have_value("POST /api/tokens")


def test_an_identity_is_added(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    page = open_page(at("/egress"), refusals=True)
    page.get_by_role("button", name="New identity").click()
    page.get_by_label("Name").fill("berlin-1")
    page.get_by_label("Language and country").fill("de-DE")
    page.get_by_label("Proxy (none if empty)").fill("ftp://proxy.example")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("alert")).to_contain_text("proxy")
    page.get_by_label("Proxy (none if empty)").fill("http://proxy.example:3128")
    page.get_by_label("Its user").fill("me")
    page.get_by_label("Its password").fill("secret")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_text("berlin-1 is there.")).to_be_visible()
    expect(page.get_by_role("row", name="berlin-1")).to_contain_text("Europe/Berlin")
    [made] = gateway.call("GET", "/api/egress").body["items"]
    assert (made["locale"], made["proxy"], made["proxy_user"]) == ("de-DE", "http://proxy.example:3128", "me")


def test_an_identity_is_tested(
    gateway: RunningGateway, open_page: OpenPage, at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway.call("POST", "/api/egress", {"name": "direct"})
    gateway.call("POST", "/api/egress", {"name": "berlin-1", "proxy": "http://127.0.0.1:1"})
    page = open_page(at("/egress"), refusals=True)
    page.get_by_role("button", name="Test direct").click()
    page.get_by_label("Address").fill(at("/livez"))
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("alert")).to_contain_text("127.0.0.1, which is not public")
    monkeypatch.setattr(browser, "is_public", bool)
    page.get_by_role("button", name="Send it").click()
    expect(page.locator(".toast[data-tone='good']")).to_contain_text("direct: answered 200 after")
    page.get_by_role("button", name="Test berlin-1").click()
    page.get_by_label("Address").fill("http://shop.example/")
    page.get_by_role("button", name="Send it").click()
    expect(page.locator(".toast[data-tone='bad']")).to_contain_text("the proxy failed")
    expect(page.get_by_role("row", name="berlin-1")).to_contain_text("cooling")
    expect(page.get_by_role("button", name="Test berlin-1")).to_have_count(0)


def test_an_identity_is_retired(gateway: RunningGateway, open_page: OpenPage, at: At) -> None:
    page = open_page(at("/egress"))
    expect(page.get_by_text("There are no identities.")).to_be_visible()
    gateway.call("POST", "/api/egress", {"name": "berlin-1", "locale": "de-DE", "proxy": "http://proxy.example:3128"})
    page.reload()
    expect(page.get_by_role("cell", name="http://proxy.example:3128")).to_be_visible()
    page.get_by_role("button", name="Retire berlin-1").click()
    page.get_by_role("button", name="Retire it").click()
    expect(page.get_by_text("There are no identities.")).to_be_visible()
    page.get_by_role("link", name="all", exact=True).click()
    expect(page.get_by_role("cell", name="retired")).to_be_visible()


def test_the_page_of_tokens_can_be_used_by_everybody(signed_in: Callable[..., tuple[RunningGateway, Page]]) -> None:
    """The other pages are looked at in test_every_page.py, on which nobody has a token."""
    gateway, page = signed_in("/enqueue")
    page.set_viewport_size({"width": 390, "height": 800})
    make_token(gateway, "read")
    visit(page, gateway.url("/tokens"))
    expect(page.get_by_role("cell", name="ada", exact=True)).to_be_visible()
    assert faults_of(page) == []
    assert not is_too_wide(page)


CHANGES = (
    "WhatRecordFieldWasNowChange",
    r"~ changedno. 1price2.52.75\+10.0 %",
    "~ changedno. 3stock98−1",
    r"\+ addedno. 4–price 7, stock 1new",
    "− removedno. 2price 4, stock 0–gone",
)


def test_a_payload_is_shown_with_what_has_changed(
    serve: Serve, open_page: OpenPage, database_url: str, tmp_path: Path
) -> None:
    # The driver of the browser has a loop in this thread.
    with ThreadPoolExecutor(1) as thread:
        saving = thread.submit(save, database_url, tmp_path, BEFORE, AFTER, key="101", metadata={"products": 3})
        before, after = saving.result()
    gateway = serve(payloads_store=str(tmp_path))
    page = open_page(gateway.url("/payloads"), refusals=True)
    page.get_by_role("link", name=str(after.id), exact=True).click()
    expect(page.get_by_text(after.sha256)).to_be_visible()
    expect(page.locator(".tree").first).to_contain_text("products")
    page.get_by_label("Since").select_option(str(before.id))
    page.get_by_label("Records are at, as data.products").fill("data.products")
    page.get_by_label("Fields, as price,stock").fill("price,stock")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_text("1 added, 1 removed, 1 price changed, 1 stock changed")).to_be_visible()
    changes = page.get_by_role("table").get_by_role("row")
    expect(changes).to_have_text([re.compile(each) for each in CHANGES])
    page.reload()
    expect(page.get_by_label("Since")).to_have_value(str(before.id))
    expect(changes).to_have_count(len(CHANGES))
    page.get_by_label("Records are at, as data.products").fill("data.nothing")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_role("alert")).to_contain_text("there is no 'data.nothing' in the payload")
    with page.expect_download() as download:
        page.get_by_role("link", name="Get its content").click()
    assert download.value.failure() is None
