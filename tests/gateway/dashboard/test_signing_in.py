"""Who sees what: signing in and out, scopes, and a page below a path."""

from __future__ import annotations

from playwright.sync_api import Page, Route, expect

from tests.gateway.dashboard.axe import faults_of
from tests.gateway.dashboard.conftest import OpenPage, Serve, sign_in
from tests.gateway.fakes.running import RunningGateway

SECRET = "of the settings, long enough"
BEARER = {"Authorization": f"Bearer {SECRET}"}


def until(page: Page, routes: list[Route]) -> None:
    """Until the page has asked what a route keeps."""
    while not routes:
        page.evaluate("0")  # calls of routes come with answers of the page


def make_token(gateway: RunningGateway, *scopes: str) -> str:
    return gateway.call("POST", "/api/tokens", {"name": "ada", "scopes": list(scopes)}, BEARER).body["secret"]


def test_whoever_may_only_read_is_shown_no_buttons(serve: Serve, open_page: OpenPage) -> None:
    gateway = serve(gateway_token=SECRET)
    job_id = gateway.call("POST", "/api/jobs", {"kind": "mail"}, BEARER).body["id"]
    page = open_page(gateway.url(f"/jobs/{job_id}"))
    sign_in(page, make_token(gateway, "read"))
    expect(page.get_by_role("heading", name="mail")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_role("button", name="Duplicate")).to_have_count(0)
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    assert page.evaluate("document.cookie") == ""
    page.reload()
    expect(page.get_by_role("heading", name="mail")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Token")).to_be_visible()


def test_who_signs_out_while_the_page_asks_for_something_is_refused_nothing(serve: Serve, open_page: OpenPage) -> None:
    gateway = serve(gateway_token=SECRET)
    job_id = gateway.call("POST", "/api/jobs", {"kind": "mail"}, BEARER).body["id"]
    page = open_page(gateway.url(f"/jobs/{job_id}"))
    sign_in(page, SECRET)
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    asked, ended = list[Route](), list[Route]()
    page.route(f"**/api/jobs/{job_id}", lambda route: asked.append(route))  # noqa: PLW0108  it knows no built-in
    page.route("**/api/session", lambda route: ended.append(route))  # noqa: PLW0108
    gateway.call("POST", f"/api/jobs/{job_id}/cancel", None, BEARER)
    until(page, asked)
    page.get_by_role("button", name="Sign out").click()
    until(page, ended)
    page.unroute("**/api/session")
    answer = ended[0].fetch()
    for each in asked:
        each.continue_()
    ended[0].fulfill(response=answer)
    expect(page.get_by_label("Token")).to_be_visible()


def test_the_page_for_signing_in_can_be_used_by_everybody(serve: Serve, open_page: OpenPage) -> None:
    gateway = serve(gateway_token=SECRET)
    page = open_page(gateway.url("/"))
    expect(page.get_by_label("Token")).to_be_visible()
    assert faults_of(page) == []


def test_below_a_path_everything_is_found(serve: Serve, open_page: OpenPage) -> None:
    gateway = serve(gateway_token=SECRET, gateway_prefix="/ops/jobs")
    job_id = gateway.call("POST", "/api/jobs", {"kind": "mail"}, BEARER).body["id"]
    page = open_page(gateway.url("/ops/jobs/"))
    sign_in(page, SECRET)
    page.get_by_role("link", name="Jobs", exact=True).click()
    page.get_by_role("link", name=str(job_id), exact=True).click()
    expect(page).to_have_url(gateway.url(f"/ops/jobs/jobs/{job_id}"))
    page.reload()
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel it").click()
    expect(page.get_by_text("It is cancelled.")).to_be_visible()


def test_what_is_hidden_from_readers_is_neither_shown_nor_copied(serve: Serve, open_page: OpenPage) -> None:
    gateway = serve(gateway_token=SECRET)
    body = {"kind": "mail", "args": {"user": "ada", "password": "pass-42"}}
    job_id = gateway.call("POST", "/api/jobs", body, BEARER).body["id"]
    for scopes, shown in ((("read", "enqueue"), "[hidden]"), (("operate", "enqueue"), "pass-42")):
        page = open_page(gateway.url(f"/jobs/{job_id}"))
        sign_in(page, make_token(gateway, *scopes))
        expect(page.locator(".tree").first).to_contain_text(shown)
        assert ("pass-42" in page.content()) == (shown == "pass-42")
        expect(page.get_by_role("button", name="Duplicate")).to_have_count(1 if shown == "pass-42" else 0)
