"""The page that shows the API, opened by a link to one of its operations."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.gateway.dashboard.conftest import PATIENCE_MILLISECONDS, At


def test_a_link_to_an_operation_opens_it(browser: Browser, at: At) -> None:
    # Not by `open_page`: the viewer writes a warning about each `_` in an address to the console, as an error.
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MILLISECONDS)
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(at("/docs#/jobs/list_jobs"))
        opened = page.locator(".opblock.is-open")
        expect(opened).to_have_count(1)
        expect(opened).to_contain_text("/api/jobs")
        expect(opened).to_be_in_viewport()
        assert faults == []
