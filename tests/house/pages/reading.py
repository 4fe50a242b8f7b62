"""The fenced blocks of a page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[3]
FENCE = re.compile(
    r"^```(?P<language>\w+)(?: \(not run: (?P<reason>[^\n]+)\))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


class Block(msgspec.Struct, frozen=True):
    """A block: its language, its text, the number of its first line, and why it is not run (None: it is)."""

    language: str
    text: str
    line: int
    reason: str | None


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page that name their language, in order."""
    text = page.read_text("utf-8")
    return [
        Block(found["language"], found["text"], text.count("\n", 0, found.start("text")) + 1, found["reason"])
        for found in FENCE.finditer(text)
    ]


def statements_of(block: Block) -> list[ast.stmt]:
    """The statements of a python block, with the line numbers of the page. Raises SyntaxError."""
    return ast.parse("\n" * (block.line - 1) + block.text).body


def awaits(statement: ast.stmt) -> bool:
    """Whether it awaits by itself, outside of the functions that it defines."""
    return any(isinstance(node, (ast.Await, ast.AsyncWith, ast.AsyncFor)) for node in _outside_functions(statement))


def waits(statement: ast.stmt) -> bool:
    """Whether it waits for a job without awaiting, so that a worker has to run."""
    calls = [node.func for node in _outside_functions(statement) if isinstance(node, ast.Call)]
    return any(isinstance(each, ast.Attribute) and each.attr == "wait" for each in calls)


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from _outside_functions(child)
