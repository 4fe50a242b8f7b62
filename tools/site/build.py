"""Makes the site in build/site: `make docs`. It stands on its own: no page asks another server for anything.

The pages are those of the repository, with their links rewritten (`pages.py`). Zensical builds them; then `checking.py` looks at
what came out. A link that leads nowhere is an error.
"""

# ruff: noqa: T201

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.site.checking import faults_of
from tools.site.navigation import ROOT, place_of, placed
from tools.site.pages import FILES, Site, summary_of, title_of

WORK = ROOT / "build"
PAGES = WORK / "pages"
SITE = WORK / "site"
GUIDES = ("Learn", "Use", "Operate")

CONFIGURATION = """[project]
site_name = "leasehold"
site_description = "Background jobs for Python on Postgres"
site_url = ""
docs_dir = "pages"
site_dir = "site"
use_directory_urls = false
nav = {navigation}

[project.theme]
variant = "modern"
font = false
features = ["navigation.tabs", "navigation.top", "navigation.indexes", "content.code.copy", "search.highlight", "toc.follow"]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Dark"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Light"

[project.markdown_extensions.toc]
permalink = true
slugify = {{ object = "pymdownx.slugs.slugify", kwds = {{ case = "lower" }} }}

[project.markdown_extensions.tables]

[project.markdown_extensions.sane_lists]

[project.markdown_extensions.pymdownx.highlight]

[project.markdown_extensions.pymdownx.superfences]
"""


def main() -> int:
    """Make it; 1 if something is wrong with it."""
    assemble()
    command = [str(Path(sys.executable).parent / "zensical"), "build", "--clean", "--strict"]
    if subprocess.run(command, cwd=WORK, check=False).returncode:
        return 1
    shutil.copytree(PAGES, SITE, dirs_exist_ok=True)  # the pages themselves, for programs: llms.txt links to them
    faults = list(faults_of(SITE))
    print("\n".join([*faults, f"{len(faults)} faults"] if faults else [f"the site is in {SITE.relative_to(ROOT)}"]))
    return 1 if faults else 0


def assemble() -> None:
    """Write the pages, the files that they link to, the configuration, and what programs read."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.rmtree(SITE, ignore_errors=True)
    sections = placed()
    pages = [page for section in sections.values() for page in section]
    site = Site(pages)
    for page in pages:
        write(PAGES / place_of(page), site.rewritten(page))
    for file in site.files:
        target = PAGES / FILES / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    write(PAGES / "llms.txt", "\n".join(index(sections)) + "\n")
    write(PAGES / "llms-full.txt", full(sections))
    write(WORK / "zensical.toml", CONFIGURATION.format(navigation=navigation(sections)))


def index(sections: Mapping[str, Sequence[Path]]) -> Iterator[str]:
    """What the pages are, for programs that read them (https://llmstxt.org): all by part, each with its first sentence."""
    yield "# leasehold\n"
    yield f"> {summary_of(ROOT / 'README.md')} A job is a row in your database, and a worker holds it under a lease.\n"
    for title, pages in sections.items():
        yield f"## {title}\n"
        yield from (f"- [{title_of(page)}]({place_of(page)}): {summary_of(page)}" for page in pages)
        yield ""


def full(sections: Mapping[str, Sequence[Path]]) -> str:
    """The guides one after the other; the references, the decisions and the inside are left out."""
    return "\n\n".join(page.read_text("utf-8").strip() for title in GUIDES for page in sections[title]) + "\n"


def navigation(sections: dict[str, list[Path]]) -> str:
    """The navigation as TOML."""
    parts = [f"{{ {json.dumps(title)} = [{', '.join(map(entry, pages))}] }}" for title, pages in sections.items()]
    return f"[\n  {(',' + chr(10) + '  ').join(parts)},\n]"


def entry(page: Path) -> str:
    """One line of the navigation."""
    return f"{{ {json.dumps(title_of(page), ensure_ascii=False)} = {json.dumps(str(place_of(page)))} }}"


def write(path: Path, text: str) -> None:
    """Write a file into a folder that may not be there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
