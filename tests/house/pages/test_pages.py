"""Every python and sql block of every page is run, or says in its fence why it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house.pages.playing import Play, name_of, stage_of
from tests.house.pages.reading import ROOT, blocks_of

ELSEWHERE = {
    "docs/recipes/README.md": "tests/house/test_recipes.py",
    "docs/sync.md": "tests/house/test_sync_page.py",
    "docs/api.md": "tests/house/test_references.py",
    "docs/sql.md": "tests/house/test_sql_reference.py",
    "docs/testing.md": "tests/house/test_testing_page.py",
    "docs/tutorial.md": "tests/house/test_tutorial.py",
}
"""Pages whose blocks other tests run; docs/sql.md and docs/api.md are generated, from signatures and docstrings."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PLAYED = [
    page
    for page in PAGES
    if str(page.relative_to(ROOT)) not in ELSEWHERE
    and any(each.language in {"python", "sql"} for each in blocks_of(page))
]


@pytest.mark.parametrize("page", PLAYED, ids=lambda page: page.name)
def test_the_blocks_of_a_page_run(
    page: Path, fresh_database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LEASEHOLD_DATABASE_URL", fresh_database_url)
    monkeypatch.setenv("LEASEHOLD_CPU_BACKOFF", "1")  # tests keep a machine busy
    monkeypatch.setenv("LEASEHOLD_MEMORY_BACKOFF", "1")
    monkeypatch.chdir(tmp_path)
    for name, value in getattr(stage_of(page), "VARIABLES", {}).items():
        monkeypatch.setenv(name, value)
    Play(page, fresh_database_url).run()


def test_every_page_with_code_is_played_or_named() -> None:
    assert [
        name for name, test in ELSEWHERE.items() if not (ROOT / name).is_file() or not (ROOT / test).is_file()
    ] == []
    stages = {path.stem for path in (Path(__file__).parent / "stages").glob("*.py")} - {"__init__"}
    assert stages - {name_of(page) for page in PLAYED} == set()


def test_a_block_that_is_not_run_says_why() -> None:
    silent = [f"{page.name}:{each.line}" for page in PAGES for each in blocks_of(page) if each.reason == ""]
    assert silent == []
