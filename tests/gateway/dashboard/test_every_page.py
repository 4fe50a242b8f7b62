"""What holds on every page, with something to see on it: it can be used by everybody, in both themes, and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.conftest import Psql
from tests.gateway.dashboard.axe import faults_of
from tests.gateway.dashboard.conftest import OpenPage, Serve
from tests.gateway.dashboard.filled import fill, wait_for
from tests.gateway.dashboard.hostile import is_too_wide
from tests.gateway.dashboard.test_signing_in import address

PHONE = {"width": 390, "height": 800}
MOVING = """() => [...document.querySelectorAll("*")].filter((each) => {
    const { animationName, transitionProperty, transitionDuration } = getComputedStyle(each);
    return animationName !== "none" || (transitionProperty !== "none" && transitionDuration !== "0s");
}).map((each) => each.outerHTML)"""

Filled = tuple[Callable[[str], str], Mapping[str, str]]


@pytest.fixture
def filled(serve: Serve, psql: Psql, database_url: str, tmp_path: Path) -> Filled:
    """The address of a path of a gateway, and its pages, each with a text on it."""
    gateway = serve(payloads_store=str(tmp_path))
    return lambda path: address(gateway, path), fill(gateway, psql, database_url, tmp_path)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_can_be_used_by_everybody(filled: Filled, open_page: OpenPage, scheme: str) -> None:
    at, pages = filled
    faults: dict[str, list[str]] = {}
    page = open_page("about:blank", color_scheme=scheme)
    for path, text in pages.items():
        page.goto(at(path))
        wait_for(page, text)
        faults[path] = faults_of(page)
    assert {path: found for path, found in faults.items() if found} == {}


def test_nothing_moves_on_any_page_for_those_who_asked_for_that(filled: Filled, open_page: OpenPage) -> None:
    at, pages = filled
    page = open_page("about:blank", reduced_motion="reduce")
    moving: dict[str, list[str]] = {}
    for path, text in pages.items():
        page.goto(at(path))
        wait_for(page, text)
        moving[path] = page.evaluate(MOVING)
    assert {path: found for path, found in moving.items() if found} == {}


def test_no_page_is_wider_than_a_phone(filled: Filled, open_page: OpenPage) -> None:
    at, pages = filled
    page = open_page("about:blank", viewport=PHONE)
    wide: list[str] = []
    for path, text in pages.items():
        page.goto(at(path))
        wait_for(page, text)
        if is_too_wide(page):
            wide.append(path)
    assert wide == []
