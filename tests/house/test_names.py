"""A name means one thing in the whole product."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("src", "actors", "gateway", "notify")


def modules() -> list[Path]:
    return [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def classes() -> dict[str, list[str]]:
    """Where each class name is defined."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


def test_no_class_name_is_defined_twice() -> None:
    assert {name: places for name, places in classes().items() if len(places) > 1} == {}


def test_each_logger_has_the_name_of_its_module() -> None:
    makers = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in modules()
        for line in path.read_text(encoding="utf-8").splitlines()
        if "getLogger(" in line and "getLogger()" not in line
    ]
    assert [each for each in makers if not each.endswith(".py: log = logging.getLogger(__name__)")] == []
