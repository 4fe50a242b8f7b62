"""docs/architecture.md names files, functions and classes: all of them are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
HOP = re.compile(r"`([\w./]+\.(?:py|sql)): ([\w.]+)`")
FILE = re.compile(r"`((?:actors|gateway|notify|sql|src|tests|docs)/[\w./]+\.\w+)`")


def names_of(tree: ast.AST, prefix: str = "") -> Iterator[str]:
    """Functions and classes, methods as `Class.method`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield prefix + node.name
            if isinstance(node, ast.ClassDef):
                yield from names_of(node, f"{prefix}{node.name}.")


def is_there(file: str, name: str) -> bool:
    """Whether the file defines the name."""
    path = ROOT / file
    if not path.is_file():
        return False
    if path.suffix == ".sql":
        return f"function leasehold.{name}(" in path.read_text()
    return name in set(names_of(ast.parse(path.read_text())))


def test_every_hop_of_the_flows_exists() -> None:
    hops = HOP.findall(PAGE)
    assert len(hops) > 20
    assert [f"{file}: {name}" for file, name in hops if not is_there(file, name)] == []


def test_every_file_that_the_page_names_exists() -> None:
    assert [file for file in FILE.findall(PAGE) if not (ROOT / file).is_file()] == []
