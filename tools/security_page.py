"""Writes the tables of docs/security.md: the scopes from the route table, the roles from the table of roles."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from leasehold.access.roles import DEFAULT_PREFIX, read_roles
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.route_table import ROUTES

TARGET = Path(__file__).parent.parent / "docs" / "security.md"


def render(page: str) -> str:
    """The page with its tables made anew."""
    for name, lines in (("scopes", scopes()), ("roles", roles())):
        block = re.compile(rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- /{name} -->)", re.DOTALL)
        page = block.sub(lambda found, lines=lines: found[1] + "\n".join(lines) + "\n" + found[2], page)
    return page


def scopes() -> Iterable[str]:
    """One row for each scope: what it opens beside what the scopes that it includes open."""
    yield "| scope | opens |"
    yield "|---|---|"
    for scope in (*Scope, None):
        opened: dict[tuple[str, str], list[str]] = {}
        for route in ROUTES:
            if route.scope is scope and route.alias_of is None:
                also = f" (and {route.also.value})" if route.also else ""
                opened.setdefault((route.path, also), []).append(route.method)
        listed = " · ".join(f"{','.join(methods)} `{path}`{also}" for (path, also), methods in sorted(opened.items()))
        yield f"| {scope.value if scope else 'none: open to everybody'} | {listed} |"


def roles() -> Iterable[str]:
    """One row for each role."""
    yield "| role | for | includes | functions of its own |"
    yield "|---|---|---|---|"
    for name, role in read_roles().items():
        own = " ".join(f"`{each}`" for each in sorted(role.calls))
        yield f"| `{DEFAULT_PREFIX}{name}` | {role.purpose} | {', '.join(role.includes)} | {own} |"


if __name__ == "__main__":
    TARGET.write_text(render(TARGET.read_text()))
