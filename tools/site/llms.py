"""`llms.txt` (https://llmstxt.org): what the pages are, for programs that read them; `llms-full.txt` has the guides themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.site.navigation import ROOT, place_of
from tools.site.pages import summary_of, title_of

FULL = ("Learn", "Use", "Operate")


def index(sections: Mapping[str, Sequence[Path]]) -> str:
    """All pages by part, each with its first sentence."""
    return "\n".join(_index(sections)) + "\n"


def _index(sections: Mapping[str, Sequence[Path]]) -> Iterator[str]:
    yield "# leasehold\n"
    yield f"> {summary_of(ROOT / 'README.md')} A job is a row in your database, and a worker holds it under a lease.\n"
    for title, pages in sections.items():
        yield f"## {title}\n"
        yield from (f"- [{title_of(page)}]({place_of(page)}): {summary_of(page)}" for page in pages)
        yield ""


def full(sections: Mapping[str, Sequence[Path]]) -> str:
    """The guides one after the other; the references, the decisions and the inside are left out."""
    return "\n\n".join(page.read_text("utf-8").strip() for title in FULL for page in sections[title]) + "\n"
