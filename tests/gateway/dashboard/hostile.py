"""What pages must bear: text that would be more than text, and narrow windows."""

from __future__ import annotations

from playwright.sync_api import Page

HOSTILE = [
    "<script>document.title='broken'</script><img src=x onerror=alert(1)>\"><svg/onload=alert(1)>{{7*7}}${7*7}",
    "__proto__",
    "\u202eevil\u202c \u05e9\u05dc\u05d5\u05dd",
    "../../api/session%2e%2e%2f?q=1&state=failed#x",
    "a'b\"c\\d:e f",
    "w" * 190,
]


def is_too_wide(page: Page) -> bool:
    """Whether the page as a whole has to be scrolled sideways."""
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth + 1")
