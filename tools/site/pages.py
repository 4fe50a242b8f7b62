"""A page of the repository as a page of the site: its links lead to where things stand there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from tools.site.navigation import ROOT, place_of

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
REASON = re.compile(r"^(```\w+) \(not run: [^\n]*\)$", re.MULTILINE)
LINK = re.compile(r"(?P<shown>!?\[[^\]]*\])\((?P<target>[^()\s]+)\)")
FILES = Path("files")
"""The folder of the site for files that pages link to and that are no pages."""


class Site:
    """The pages of the site.

    Args:
        pages: those of the repository. Whatever else a page links to is copied beside them.
    """

    def __init__(self, pages: list[Path]) -> None:
        self.pages = set(pages)
        self.files: set[Path] = set()

    def rewritten(self, page: Path) -> str:
        """The text of a page for the site."""

        def lead(found: re.Match[str]) -> str:
            target = self.target(page, found["target"])
            return f"{found['shown']}({target})" if target else found["shown"].strip("![]")

        text = REASON.sub(r"\1", page.read_text("utf-8"))
        return outside_code(text, lambda part: LINK.sub(lead, part))

    def target(self, page: Path, link: str) -> str | None:
        """A link as it is in the site; None for a folder that is no page of it."""
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        name, _, anchor = link.partition("#")
        found = (page.parent / name).resolve()
        if found.is_dir():
            found = found / "README.md"
        if found in self.pages:
            place = place_of(found)
        elif found.is_file():
            self.files.add(found)
            place = FILES / found.relative_to(ROOT)
        else:
            return None
        return os.path.relpath(place, place_of(page).parent) + (f"#{anchor}" if anchor else "")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with everything changed but its fenced blocks."""
    parts: list[str] = []
    end = 0
    for fence in FENCE.finditer(text):
        parts += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(text[end:])])


def title_of(page: Path) -> str:
    """Its first heading, as plain text."""
    found = re.search(r"^# (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return plain(found[1]) if found else page.stem


def summary_of(page: Path) -> str:
    """The first sentence of its first paragraph that says something, as plain text."""
    text = FENCE.sub("", page.read_text("utf-8"))
    paragraphs = [each.strip() for each in re.split(r"\n\s*\n", text) if each.strip()]
    said = [each for each in paragraphs if not re.match(r"[#|`<>*-]|\d+\.|Made by ", each)]
    sentence = plain(" ".join(said[0].split())) if said else title_of(page)
    return re.split(r"(?<=[.:?])\s+(?=[A-Z`])", sentence)[0]


def plain(text: str) -> str:
    """Without links and emphasis."""
    return re.sub(r"[*`]", "", LINK.sub(lambda found: found["shown"].strip("![]"), text))
