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
    "</textarea></title><style>*{display:none}</style><!--",
    "e\u0301\u0336\u0489\u200d\u2640\ufe0f x",
]
"""The last two: what would end the element that it stands in, and marks that pile up on a letter and signs that join."""


def is_too_wide(page: Page) -> bool:
    """Whether the page as a whole has to be scrolled sideways."""
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth + 1")
