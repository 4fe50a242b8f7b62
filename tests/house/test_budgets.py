"""Files, functions and folders stay small enough to be read at once. CONTRIBUTING.md has the numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = [ROOT / name for name in ("actors", "gateway", "notify", "src/leasehold")]
LONGEST_FILE = 400
SHORTEST_FILE = 40
LEAST_MEAN = 130
LEAST_ROOM = 300
LONGEST_FUNCTION = 40
MEDIAN_FUNCTION = 10
MOST_ENTRIES = 13
WIDE = {
    "src/leasehold": "the product itself: four links and the rooms of the library",
    "gateway/nouns": "a file for each noun",
    "src/leasehold/cli/commands": "a file for each noun",
    "src/leasehold/client/nouns": "a file for each noun",
}
"""Folders with more entries, and why."""
SHORT = {
    "gateway/route_table.py": "the one file that knows all nouns",
    "src/leasehold/__main__.py": "`python -m leasehold`",
    "src/leasehold/checks/verdicts.py": "all checks return it",
    "src/leasehold/django/apps.py": "Django looks for it here",
    "src/leasehold/concurrency/signal.py": "loads trio, which its neighbours do not",
    "src/leasehold/observability/wording.py": "three floors use it",
}
"""Files with fewer lines than a thought has, and why."""
SMALL = {
    "src/leasehold/cli": "the command line's way in; its rooms are below",
    "src/leasehold/django/management": "Django looks for it here",
    "src/leasehold/django/management/commands": "Django looks for it here",
    "src/leasehold/access": "both who may ask the database and who may ask the gateway",
    "src/leasehold/moving": "the way out of other queues",
}
"""Folders with fewer lines than a room has, and why."""


def files() -> list[Path]:
    """The Python files of the product."""
    return [file for room in ROOMS for file in sorted(room.rglob("*.py")) if not file.is_symlink()]


def functions(file: Path) -> Iterator[tuple[str, int]]:
    """Functions and methods with the lines of their bodies, without docstrings."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[1 if ast.get_docstring(node) is not None and len(node.body) > 1 else 0]
            yield node.name, (node.end_lineno or 0) - first.lineno + 1


def median(numbers: list[int]) -> int:
    """The middle one."""
    return sorted(numbers)[len(numbers) // 2]


def test_files_are_short() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in files()}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_files_are_thoughts() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in files()}
    assert sum(lengths.values()) / len(lengths) >= LEAST_MEAN
    assert {name for name, lines in lengths.items() if lines < SHORTEST_FILE and "__init__" not in name} == set(SHORT)


def test_a_room_is_worth_its_door() -> None:
    lengths = dict.fromkeys({str(file.parent.relative_to(ROOT)) for file in files()}, 0)
    for file in files():
        lengths[str(file.parent.relative_to(ROOT))] += len(file.read_text().splitlines())
    assert {name for name, lines in lengths.items() if lines < LEAST_ROOM} == set(SMALL)


def test_functions_are_short() -> None:
    lengths = [(f"{file.relative_to(ROOT)}: {name}", lines) for file in files() for name, lines in functions(file)]
    assert [(name, lines) for name, lines in lengths if lines > LONGEST_FUNCTION] == []
    assert median([lines for _, lines in lengths]) <= MEDIAN_FUNCTION


def test_a_room_has_few_doors() -> None:
    folders = {file.parent for file in files()}
    wide: dict[str, int] = {}
    for folder in folders:
        name = str(folder.relative_to(ROOT))
        entries = [each for each in folder.iterdir() if each.name not in {"__init__.py", "__pycache__"}]
        if len(entries) > MOST_ENTRIES and name not in WIDE:
            wide[name] = len(entries)
    assert wide == {}


def test_every_folder_says_what_lives_there() -> None:
    silent = [
        str(file.relative_to(ROOT))
        for file in files()
        if file.name == "__init__.py" and not ast.get_docstring(ast.parse(file.read_text()))
    ]
    assert silent == []
