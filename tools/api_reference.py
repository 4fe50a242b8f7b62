"""Writes docs/api.md from the docstrings of what users import: `leasehold` and its public rooms."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from tools.client_reference import promise

TARGET = Path(__file__).parent.parent / "docs" / "api.md"
ROOMS = ("leasehold", "leasehold.sync", "leasehold.errors", "leasehold.events", "leasehold.testing", "leasehold.egress")

LEAD = """# Python names

Made by `python -m tools.api_reference` from the docstrings; do not edit. `help(leasehold.App)` says the same. The client has
[a page of its own](client.md).
"""


def render() -> str:
    """The page for the names as they are."""
    lines = [LEAD]
    for room in ROOMS:
        lines += chapter(room)
    return "\n".join(lines).rstrip() + "\n"


def chapter(room: str) -> Iterator[str]:
    """The names of one module."""
    module = import_module(room)
    yield f"## {room}\n"
    for name in names_of(module):
        yield from section(name, getattr(module, name))


def names_of(module: ModuleType) -> list[str]:
    """What a module says that it has; without a list, the classes that are its own, in their order."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return [name for name in listed if not inspect.ismodule(getattr(module, name))]
    return [
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__.startswith(module.__name__) and not name.startswith("_")
    ]


def section(name: str, value: object) -> Iterator[str]:
    """One name: how it is called, what it is, and its methods."""
    yield f"### {name}"
    if signature := call(name, value):
        yield f"```text\n{signature}\n```"
    if inspect.isclass(value) or inspect.isroutine(value):
        yield from docstring(inspect.getdoc(value) or "")
        yield ""
    if inspect.isclass(value):
        yield from methods(value)


def call(name: str, value: object) -> str:
    """The name with its parameters, without the types; a name that is no class and no function with its value."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return f"{name} = {re.sub(r'leasehold[.a-z_]*[.]', '', str(value))}"
    if inspect.isclass(value) and (issubclass(value, BaseException) or getattr(value, "_is_protocol", False)):
        return ""
    if inspect.isclass(value) and issubclass(value, msgspec.Struct):
        return f"{name}({', '.join(value.__struct_fields__)})"
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:
        return ""
    return f"{name}({', '.join(parameter(each) for each in parameters)})"


def parameter(each: inspect.Parameter) -> str:
    """One parameter, with its default where that is short."""
    stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
    text = repr(each.default)
    default = "" if each.default is each.empty else f"={text}" if len(text) < 20 and "<" not in text else "=…"
    return f"{stars}{each.name}{default}"


def docstring(text: str) -> Iterator[str]:
    """A docstring as Markdown: its parts become lists, its example a block."""
    for paragraph in re.split(r"\n\n(?=\S)", text):
        title, _, rest = paragraph.partition("\n")
        if title == "Example:":
            yield f"```python\n{inspect.cleandoc(rest)}\n```"
        elif re.fullmatch(r"(Args|Raises|Returns|Yields|Attributes):", title):
            yield f"**{title[:-1]}**\n"
            yield "\n".join(entries(inspect.cleandoc(rest))) + "\n"
        else:
            yield paragraph + "\n"


def entries(text: str) -> Iterator[str]:
    """The entries of a part, each on one line."""
    for entry in re.split(r"\n(?=\S)", text):
        words = " ".join(entry.split())
        yield "- " + re.sub(r"^([\w, *]+): ", r"`\1`: ", words)


def methods(value: type) -> Iterator[str]:
    """Its own public methods, one line each."""
    found: dict[str, Any] = {
        name: each
        for name, each in vars(value).items()
        if not name.startswith("_")
        and (inspect.isfunction(each) or isinstance(each, property | classmethod))
        and each.__doc__
    }
    for name, each in found.items():
        yield f"- `.{name}`: {promise(each.__doc__)}"
    if found:
        yield ""


if __name__ == "__main__":
    TARGET.write_text(render())
