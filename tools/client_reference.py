"""Writes docs/client.md from the docstrings of the client: every method by noun, one line each."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, get_type_hints

from leasehold import Client

TARGET = Path(__file__).parent.parent / "docs" / "client.md"

LEAD = """# The client, method by method

Made by `python tools/client_reference.py` from the docstrings; do not edit. `help(Client.enqueue)` has the
arguments and errors of one.

`async with open_client(dsn) as client` opens one, under trio or under asyncio; the end of the block closes it, and nothing else
does. Take it wherever there is such a block. `client = await connect(dsn)` is for programs without one, such as a framework that
calls a function at its start and another at its end: any task closes it with `await client.close()`. `async with connect(dsn) as
client` closes it at the end of the block, where no task has closed it before. What everybody uses is on the client itself;
everything else has its noun. A method is named as the SQL function that it calls: `pause_queue` is `client.queues.pause`.
All methods are awaited, except those marked as an iterator (`async for`), a block (`async with`) or a plain call.
"""


def nouns() -> dict[str, type]:
    """The nouns of the client, in their order: the class of each by its name."""
    return {
        name: get_type_hints(value.func)["return"]
        for name, value in vars(Client).items()
        if isinstance(value, cached_property)
    }


def methods(part: type) -> list[tuple[str, Callable[..., Any]]]:
    """The public methods of the client or of a noun: list and get, then the others in the order of its sources."""
    found: dict[str, Callable[..., Any]] = {}
    for each in (*part.__mro__[1:], part):
        public = {name: value for name, value in vars(each).items() if not name.startswith("_")}
        found |= {name: value for name, value in public.items() if inspect.isfunction(value)}
    first = [name for name in ("list", "get") if "list" in found]
    return [(name, found[name]) for name in dict.fromkeys([*first, *found]) if name in found]


def call(prefix: str, name: str, method: Callable[..., Any]) -> str:
    """A call of the method, without types: `client.jobs.list(*, state, queue, …)`."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    words = [("**" if each.kind is each.VAR_KEYWORD else "") + each.name for each in parameters]
    shown = [*words[:4], "…", *(each for each in words[5:] if each.startswith("**"))] if len(words) > 5 else words
    return f"{prefix}.{name}({', '.join(shown)})"


def way(method: Callable[..., Any]) -> str:
    """How it is called where it is not awaited."""
    inner = inspect.unwrap(method)
    if inner is not method:
        return "block: "
    if inspect.isasyncgenfunction(inner):
        return "iterator: "
    return "" if inspect.iscoroutinefunction(inner) else "plain call: "


def promise(text: str | None) -> str:
    """The first paragraph of a docstring up to its first full stop, on one line."""
    paragraph = " ".join((text or "").split("\n\n")[0].split())
    return re.split(r"(?<=[.?])\s+(?=[A-Z`])", paragraph)[0].replace("|", "\\|")


def section(title: str, prefix: str, part: type) -> Iterator[str]:
    """The table of the client or of a noun."""
    yield f"## {title}\n"
    yield "| call | what it does |"
    yield "| --- | --- |"
    for name, method in methods(part):
        yield f"| `{call(prefix, name, method)}` | {way(method)}{promise(method.__doc__)} |"
    yield ""


def render() -> str:
    """The page for the client as it is."""
    lines = [LEAD, *section("client", "client", Client)]
    for name, part in nouns().items():
        lines += section(f"client.{name}", f"client.{name}", part)
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    TARGET.write_text(render())
