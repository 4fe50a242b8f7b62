"""Somebody on call who has nothing but the dashboard: each click counts."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect


class OnCall:
    """Begins at the overview. `clicks` are those on links and buttons; what is typed into a field is not one."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def troubles(self) -> Locator:
        return self.page.get_by_role("list", name="What is wrong").get_by_role("listitem")

    def follow(self, trouble: str | re.Pattern[str]) -> None:
        """Click on what the overview says is wrong."""
        found = self.troubles().filter(has_text=trouble)
        expect(found).to_have_count(1)
        self.click(found.get_by_role("link"))

    def press(self, name: str) -> None:
        """Click on the button of this name."""
        self.click(self.page.get_by_role("button", name=name, exact=True))

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1
