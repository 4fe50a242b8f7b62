"""The site of the pages: all of them are in its navigation, its links lead somewhere, and it asks nobody else for anything."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.house.test_docs_links import PAGES
from tools.site import build
from tools.site.checking import faults_of
from tools.site.navigation import ROOT, place_of, placed
from tools.site.pages import Site, summary_of


def test_every_page_stands_once_in_the_navigation() -> None:
    pages = [page for section in placed().values() for page in section]
    assert set(PAGES) - set(pages) == set()
    assert len(set(pages)) == len(pages)
    assert len({place_of(page) for page in pages}) == len(pages)


def test_the_configuration_can_be_read_and_names_every_page() -> None:
    read = tomllib.loads(build.CONFIGURATION.format(navigation=build.navigation(placed())))
    named = [
        name
        for section in read["project"]["nav"]
        for entries in section.values()
        for entry in entries
        for name in entry.values()
    ]
    assert named == [str(place_of(page)) for section in placed().values() for page in section]


def test_a_link_leads_to_where_its_target_stands_in_the_site() -> None:
    handlers, sync = ROOT / "docs" / "handlers.md", ROOT / "docs" / "sync.md"
    site = Site([ROOT / "README.md", handlers, sync])
    assert site.target(ROOT / "README.md", "docs/sync.md#your-own-transaction") == "sync.md#your-own-transaction"
    assert site.target(handlers, "../README.md") == "index.md"
    assert site.target(handlers, "../Makefile") == "files/Makefile"
    assert site.target(handlers, "../faults/bugs") is None
    assert site.target(handlers, "https://example.org/x") == "https://example.org/x"
    assert site.files == {ROOT / "Makefile"}


def test_a_fence_says_nothing_but_its_language_and_its_text_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```python (not run: it is theirs)\na = b[0](c)\n```\nSee [it](gone/).\n")
    assert Site([page]).rewritten(page) == "# A page\n\n```python\na = b[0](c)\n```\nSee it.\n"


def test_programs_read_what_each_page_is_about() -> None:
    text = "\n".join(build.index(placed()))
    assert text.startswith("# leasehold\n\n> Background jobs for Python on Postgres")
    assert "- [Leases](leases.md): " in text
    assert [page for section in placed().values() for page in section if not summary_of(page)] == []
    assert len(build.full(placed())) < 600_000


def test_what_is_wrong_with_a_site_is_found(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<h1 id="top"></h1><a href="other.html">1</a><a href="#top">2</a><a href="#gone">3</a><a href="gone.html">4</a>'
        '<a href="https://example.org/">5</a><script src="https://cdn.example/x.js"></script>'
    )
    (tmp_path / "other.html").write_text('<a href="index.html#top">1</a><a href="index.html#gone">2</a>')
    assert list(faults_of(tmp_path)) == [
        "index.html loads https://cdn.example/x.js from another server",
        "index.html links to #gone, which is not there",
        "index.html links to gone.html, which is not there",
        "other.html links to index.html#gone, which is not there",
    ]
