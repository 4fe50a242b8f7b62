"""Every relative link in the pages that people read leads to a file, and every anchor to a heading of that page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(page for folder in ("docs", "deploy", "examples") for page in (ROOT / folder).rglob("*.md"))]
)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def test_every_link_leads_somewhere() -> None:
    for page in PAGES:
        assert [link for link in links_of(page.read_text()) if not leads_somewhere(page, link)] == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            waiting += targets_of(page)
    assert [str(page.relative_to(ROOT)) for page in PAGES if page not in reached] == []


def test_a_link_that_leads_nowhere_would_be_found() -> None:
    page = ROOT / "README.md"
    assert not leads_somewhere(page, "docs/nowhere.md")
    assert not leads_somewhere(page, "docs/handlers.md#nowhere")
    assert leads_somewhere(page, "docs/handlers.md#types")


def links_of(text: str) -> Iterator[str]:
    """The relative links outside of code."""
    return (link for link in LINK.findall(FENCE.sub("", text)) if not re.match(r"[a-z]+:", link))


def leads_somewhere(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    return target.exists() and (not anchor or anchor in anchors_of(target.read_text()))


def anchors_of(text: str) -> set[str]:
    """The anchors that GitHub makes of the headings."""
    found: set[str] = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = 0
        while (numbered := f"{anchor}-{count}" if count else anchor) in found:
            count += 1
        found.add(numbered)
    return found


def targets_of(page: Path) -> Iterator[Path]:
    """What the page links to; a folder stands for the pages in it."""
    for link in links_of(page.read_text()):
        target = (page.parent / link.partition("#")[0]).resolve()
        yield from target.glob("*.md") if target.is_dir() else [target]
