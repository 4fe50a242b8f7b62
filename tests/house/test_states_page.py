"""docs/jobs.md has a line for each state that the database knows, and its diagram shows all of them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "jobs.md").read_text("utf-8")
MIGRATION = (ROOT / "sql" / "migrations" / "0001_leasehold.sql").read_text("utf-8")
CONSTRAINT = re.compile(r"constraint (?:jobs|finished_jobs)_state\w* check \(state in \(([^)]+)\)")
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def states() -> set[str]:
    return {state for found in CONSTRAINT.findall(MIGRATION) for state in re.findall(r"'(\w+)'", found)}


def test_the_page_says_of_each_state_how_in_how_out_and_who_ends_it() -> None:
    rows = {name: cells for name, *cells in ROW.findall(PAGE)}
    assert len(states()) == 9
    assert rows.keys() >= states()
    for state in states():
        assert all(cell.strip() for cell in rows[state]), state


def test_the_diagram_shows_each_state() -> None:
    diagram = PAGE.split("```mermaid", 1)[1].split("```", 1)[0]
    assert states() <= set(re.findall(r"\w+", diagram))
