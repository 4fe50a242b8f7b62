"""What axe-core finds wrong with a page for people who cannot see it or use no mouse."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from playwright.sync_api import Page

AXE = Path(__file__).parents[3] / "tools" / "browser" / "node_modules" / "axe-core" / "axe.min.js"

ALL = "{ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }"
COLOURS = "{ runOnly: { type: 'rule', values: ['color-contrast'] } }"
SHAPE = ALL.replace(" }", ", rules: { 'color-contrast': { enabled: false } } }")


@cache
def source() -> str:
    assert AXE.exists(), "axe-core is missing: `make tools/browser/node_modules/.installed`"
    return AXE.read_text()


def faults_of(page: Page) -> list[str]:
    """Each rule of WCAG A and AA that the page breaks in one of its themes, with the elements that break it."""
    return [*_faults_in(page, "dark", ALL), *_faults_in(page, "light", COLOURS)]


def faults_of_shape(page: Page) -> list[str]:
    """The same without the rules of colours, which are the same at any width of the page."""
    return _faults_in(page, "light", SHAPE)


def _faults_in(page: Page, scheme: Literal["dark", "light"], rules: str) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(source())
    page.emulate_media(color_scheme=scheme)
    found = cast(
        "list[dict[str, Any]]",
        page.evaluate(f"async () => (await axe.run({rules})).violations"),
    )
    return [f"{scheme}: {each['id']}: {[node['html'] for node in each['nodes']]}" for each in found]
