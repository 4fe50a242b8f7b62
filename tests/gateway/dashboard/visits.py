"""From one page of the dashboard to the next by a link in it: to load a page anew costs twice as much."""

from __future__ import annotations

from playwright.sync_api import Page

FOLLOW = """async (to) => {
    for (const href of ["nowhere", to]) {
        const before = document.querySelector("main");
        const link = Object.assign(document.createElement("a"), { href });
        document.body.append(link);
        link.click();
        link.remove();
        while (document.querySelector("main") === before) await new Promise(requestAnimationFrame);
    }
}"""
"""By way of a page that is not there: nothing is left of the page before, not even where it is the same one."""


def visit(page: Page, url: str) -> None:
    """Go to another page of the dashboard that is open. Its text may still be loading."""
    page.evaluate(FOLLOW, url)
