"""A page that names a test as its proof names one that exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(test_[a-z0-9_]+)`")
MADE = re.compile(r"^\s*(?:async )?def (test_[a-z0-9_]+)", re.MULTILINE)


def test_every_test_that_a_page_names_exists() -> None:
    there = {name for path in ROOT.glob("tests/**/*.py") for name in MADE.findall(path.read_text("utf-8"))}
    pages = {path.name: set(NAMED.findall(path.read_text("utf-8"))) for path in ROOT.glob("docs/**/*.md")}
    assert {page: missing for page, names in pages.items() if (missing := sorted(names - there))} == {}
    assert pages["reliability.md"]
