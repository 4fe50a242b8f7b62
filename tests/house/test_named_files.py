"""Files that pages and docstrings name in back quotes are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).parents[2]
ROOMS = ("actors", "gateway", "notify", "sql", "src/leasehold", "faults", "benchmarks", "tools", "tests")
# In lower case: what is in capitals stands for a name.
FILE = re.compile(r"`([a-z0-9_./-]+\.(?:py|sql))`")
Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
# Of users and of other projects, a module, and an example.
OTHERS = frozenset({"manage.py", "benchmarks/soak.py", "leasehold.sql", "renew_leases__0_1.sql"})


def texts() -> Iterator[tuple[Path, str]]:
    """Pages, apart from those that tell what was (decisions, the changelog), and docstrings."""
    for page in (*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        yield page, page.read_text()
    for room in ROOMS:
        for page in (ROOT / room).rglob("README.md"):
            if "node_modules" not in page.parts:
                yield page, page.read_text()
        for file in (ROOT / room).rglob("*.py"):
            if "node_modules" not in file.parts and "environments" not in file.parts:
                yield file, "\n".join(text for text, _ in docstrings(file))


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


@cache
def definitions(file: Path) -> Sequence[Definition]:
    """The module with all its classes and functions."""
    found: list[Definition] = []
    waiting: list[Any] = [parsed(file)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Definition):
            found.append(node)
        waiting += (*getattr(node, "body", ()), *getattr(node, "orelse", ()))
    return found


def docstrings(file: Path) -> Iterator[tuple[str, ast.expr]]:
    """Each one, and where it stands."""
    for node in definitions(file):
        text = ast.get_docstring(node)
        if text is not None:
            yield text, cast("ast.Expr", node.body[0]).value


def test_every_file_in_back_quotes_is_there() -> None:
    places = (*ROOMS, "examples", "docs", "deploy")
    known = {f"/{path.relative_to(ROOT)}" for place in places for path in (ROOT / place).rglob("*.*")}
    ends = {"/".join(path.split("/")[-count:]) for path in known for count in range(1, path.count("/") + 1)}
    missing = [
        (str(where.relative_to(ROOT)), name)
        for where, text in texts()
        for name in FILE.findall(text)
        if name not in ends and name not in OTHERS
    ]
    assert missing == []
