"""Measure one file, and all files together."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from .sources import find_sources

DECISIONS = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.Assert,
    ast.match_case,
)
# Some releases of Python count the depth of a parse per process, and raise SystemError when two threads parse at once.
PARSING = threading.Lock()
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class FileMeasures(msgspec.Struct, frozen=True, kw_only=True):
    """The measures of one file.

    `complexity` is McCabe's, summed over the functions and the module's own code; `hardest` is the function with the
    highest. `modules` are the top-level names of imported modules. `unreadable` says why a file cannot be
    parsed; then only lines and bytes are counted.
    """

    lines: int
    bytes: int
    functions: int = 0
    classes: int = 0
    imports: int = 0
    complexity: int = 0
    hardest: str | None = None
    hardest_complexity: int = 0
    modules: tuple[str, ...] = ()
    unreadable: str | None = None


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over files."""

    files: int
    lines: int
    bytes: int
    functions: int
    classes: int
    imports: int
    complexity: int
    unreadable: int


class Scope:
    """The code of one function, or of the module outside of all functions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.complexity = 1


def measure(source: bytes) -> FileMeasures:
    """Parse and count. Bad syntax is counted, not raised."""
    lines, size = source.count(b"\n") + (not source.endswith(b"\n") and bool(source)), len(source)
    try:
        with PARSING:
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        return FileMeasures(lines=lines, bytes=size, unreadable=f"{type(error).__name__}: {error}")
    scopes = [Scope("")]
    classes, imports, modules = 0, 0, set[str]()
    for node, scope in walk(tree, scopes):
        scope.complexity += decisions(node)
        if isinstance(node, ast.ClassDef):
            classes += 1
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports += len(node.names)
            modules |= imported_modules(node)
    hardest = max(scopes[1:], key=lambda scope: scope.complexity, default=None)
    return FileMeasures(
        lines=lines,
        bytes=size,
        functions=len(scopes) - 1,
        classes=classes,
        imports=imports,
        complexity=sum(scope.complexity for scope in scopes),
        hardest=hardest.name if hardest else None,
        hardest_complexity=hardest.complexity if hardest else 0,
        modules=tuple(sorted(modules)),
    )


def walk(tree: ast.Module, scopes: list[Scope]) -> Iterator[tuple[ast.AST, Scope]]:
    """Every node with the scope it belongs to; `scopes` grows by one for each function."""
    waiting: list[tuple[ast.AST, Scope, str]] = [(tree, scopes[0], "")]
    while waiting:
        node, scope, prefix = waiting.pop()
        if isinstance(node, FUNCTIONS):
            scope = Scope(prefix + node.name)
            scopes.append(scope)
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            prefix += node.name + "."
        yield node, scope
        waiting += [(child, scope, prefix) for child in ast.iter_child_nodes(node)]


def decisions(node: ast.AST) -> int:
    """How many more paths through its scope this node makes."""
    if isinstance(node, DECISIONS):
        return 1
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    return 0


def imported_modules(node: ast.Import | ast.ImportFrom) -> set[str]:
    """The top-level names that are imported; none for a relative import."""
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    return {node.module.partition(".")[0]} if node.module and not node.level else set()


def total(measures: Iterable[FileMeasures]) -> Totals:
    """Add them up."""
    found = list(measures)
    return Totals(
        files=len(found),
        lines=sum(each.lines for each in found),
        bytes=sum(each.bytes for each in found),
        functions=sum(each.functions for each in found),
        classes=sum(each.classes for each in found),
        imports=sum(each.imports for each in found),
        complexity=sum(each.complexity for each in found),
        unreadable=sum(each.unreadable is not None for each in found),
    )


def count_plainly(root: Path) -> dict[str, FileMeasures]:
    """The whole census in this process, without jobs, to compare the jobs' results with."""
    return {file: measure((root / file).read_bytes()) for file in find_sources(root)}
