"""What holds on every page, with something to see on it: everybody can use it, in both themes and on a phone, and nothing moves
for those who asked for that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.conftest import Psql
from tests.gateway.dashboard.axe import faults_of, faults_of_shape
from tests.gateway.dashboard.conftest import OpenPage, Serve
from tests.gateway.dashboard.filled import fill, wait_for
from tests.gateway.dashboard.hostile import is_too_wide
from tests.gateway.dashboard.visits import visit

DESKTOP: ViewportSize = {"width": 1280, "height": 720}
PHONE: ViewportSize = {"width": 360, "height": 700}
MOVING = """() => [...document.querySelectorAll("*")].filter((each) => {
    const { animationName, transitionProperty, transitionDuration } = getComputedStyle(each);
    return animationName !== "none" || (transitionProperty !== "none" && transitionDuration !== "0s");
}).map((each) => each.outerHTML)"""

SIDEWAYS = """() => [...document.querySelectorAll("main .scroll")].filter((each) => each.scrollWidth > each.clientWidth)
    .map((each) => each.outerHTML.slice(0, 300))"""

Filled = tuple[Callable[[str], str], Mapping[str, str]]


@pytest.fixture
def filled(serve: Serve, psql: Psql, database_url: str, tmp_path: Path) -> Filled:
    """The address of a path of a gateway, and its pages, each with a text on it."""
    gateway = serve(payloads_store=str(tmp_path))
    return gateway.url, fill(gateway, psql, database_url, tmp_path)


def test_every_page_can_be_used_by_everybody(filled: Filled, open_page: OpenPage) -> None:
    at, pages = filled
    page = open_page(at("/"), reduced_motion="reduce")
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    wrong: dict[str, list[str]] = {}
    for path, text in pages.items():
        page.set_viewport_size(DESKTOP)
        visit(page, at(path))
        wait_for(page, text)
        wrong[path] = [f"moves: {each}" for each in page.evaluate(MOVING)] + faults_of(page)
        page.set_viewport_size(PHONE)
        if is_too_wide(page):
            wrong[path].append("is wider than a phone")
        wrong[path] += [f"scrolls sideways: {each}" for each in page.evaluate(SIDEWAYS)] + faults_of_shape(page)
    assert {path: found for path, found in wrong.items() if found} == {}
