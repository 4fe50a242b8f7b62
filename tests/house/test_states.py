"""docs/jobs.md has a line for each state of a job, and its diagram shows all of them. Lists of states are typed once for Python and
once for the dashboard; those in SQL are the same."""

from __future__ import annotations

import re
from pathlib import Path

from leasehold.records.jobs import ANY_STATE, ENDED, HELD, QUEUED, UNFINISHED

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "jobs.md").read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
STATE = f"(?:{'|'.join(ANY_STATE)}|stale)"
LIST = re.compile(rf"(?:\b{STATE}\b['\",\s]+){{3,}}{STATE}\b")
KNOWN = {frozenset(each) for each in (QUEUED, UNFINISHED, ANY_STATE, (*ANY_STATE, "stale"), (*QUEUED, *ENDED))}
TYPED = {
    "gateway/dashboard/base/job_states.js",
    "src/leasehold/mcp/server.py",  # a sentence for assistants
    "src/leasehold/records/jobs.py",
}


def lists_of(*suffixes: str) -> list[tuple[str, frozenset[str]]]:
    """The file and the states of each list that has those of jobs which have not started."""
    return [
        (str(path.relative_to(ROOT)), states)
        for room in ("actors", "gateway", "sql", "src/leasehold")
        for path in sorted((ROOT / room).rglob("*"))
        if path.suffix in suffixes
        for found in LIST.findall(path.read_text("utf-8"))
        if (states := frozenset(re.findall(STATE, found))) >= {"scheduled", "waiting"}
    ]


def test_the_page_says_of_each_state_how_in_how_out_and_who_ends_it() -> None:
    rows = {name: cells for name, *cells in ROW.findall(PAGE)}
    assert rows.keys() >= set(ANY_STATE)
    for state in ANY_STATE:
        assert all(cell.strip() for cell in rows[state]), state


def test_the_diagram_shows_each_state() -> None:
    diagram = PAGE.split("```mermaid", 1)[1].split("```", 1)[0]
    assert set(ANY_STATE) <= set(re.findall(r"\w+", diagram))


def test_lists_of_states_are_typed_once() -> None:
    assert {path for path, _ in lists_of(".py", ".js")} == TYPED


def test_the_dashboard_has_the_states_of_python() -> None:
    text = (ROOT / "gateway" / "dashboard" / "base" / "job_states.js").read_text("utf-8")
    lists = {name: tuple(re.findall(r"\w+", items)) for name, items in re.findall(r"const (\w+) = \[(.*)\]", text)}
    assert (lists["QUEUED"], lists["HELD"], ("completed", *lists["REOPENED"])) == (QUEUED, HELD, ENDED)


def test_each_list_in_sql_is_one_that_python_knows() -> None:
    found = lists_of(".sql")
    assert len(found) > 5
    assert [(path, states) for path, states in found if states not in KNOWN] == []
