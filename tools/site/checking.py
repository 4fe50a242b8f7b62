"""What must be true of a built site: its links lead somewhere, it asks no other server for anything, every page is there."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """What a page of the site links to, loads, and offers as anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in {"img", "script", "iframe"} and "src" in given:
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") in {"stylesheet", "icon", "preload", "preconnect"}:
            self.loads.append(given.get("href", ""))


def faults_of(site: Path) -> Iterator[str]:
    """What is wrong with a built site, a sentence for each fault."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        yield from (f"{name} loads {each} from another server" for each in page.loads if urlsplit(each).netloc)
        if path.name != "404.html":
            links = {*page.links, *page.loads}
            yield from (
                f"{name} links to {each}, which is not there" for each in sorted(links) if not _leads(path, each, pages)
            )


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page


def _leads(path: Path, link: str, pages: dict[Path, _Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
    if target.is_dir():
        target = target / "index.html"
    known = {each.resolve(): page for each, page in pages.items()} if not target.is_file() else pages
    page = known.get(target) or pages.get(target)
    if page is None:
        return target.is_file() and not parts.fragment
    return not parts.fragment or unquote(parts.fragment) in page.anchors
