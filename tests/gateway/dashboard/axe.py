"""What axe-core finds wrong with a page for people who cannot see it or use no mouse."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from playwright.sync_api import Page

AXE = Path(__file__).parents[3] / "tools" / "browser" / "node_modules" / "axe-core" / "axe.min.js"


@cache
def source() -> str:
    assert AXE.exists(), "axe-core is missing: `make tools/browser/node_modules/.installed`"
    return AXE.read_text()


def faults_of(page: Page) -> list[str]:
    """Each rule of WCAG A and AA that the page breaks in one of its themes, with the elements that break it."""
    return [*faults_in(page, "dark"), *faults_in(page, "light")]


def faults_in(page: Page, scheme: Literal["dark", "light"]) -> list[str]:
    """The same in one theme."""
    page.evaluate(source())
    page.emulate_media(color_scheme=scheme)
    found = cast(
        "list[dict[str, Any]]",
        page.evaluate(
            "async () => (await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] })).violations"
        ),
    )
    return [f"{scheme}: {each['id']}: {[node['html'] for node in each['nodes']]}" for each in found]
