"""Writes the tables of docs/http-api.md and docs/security.md: problems, routes, scopes and roles, as the sources have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from leasehold.access.roles import DEFAULT_PREFIX, read_roles
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http import problems
from leasehold.gateway.http.problems import ProblemType
from leasehold.gateway.route_table import ROUTES

DOCS = Path(__file__).parent.parent / "docs"
PAGES = (DOCS / "http-api.md", DOCS / "security.md")
Row = tuple[str, ...]


def problem_rows() -> Iterator[Row]:
    """Every code, by status."""
    types = {each.code: each for each in vars(problems).values() if isinstance(each, ProblemType)}
    yield "status", "code", "means"
    for each in sorted(types.values(), key=lambda each: (each.status, each.code)):
        yield str(each.status), f"`{each.code}`", each.title


def route_rows() -> Iterator[Row]:
    """Every route but aliases."""
    yield "route", "", "scope"
    for route in ROUTES:
        if route.alias_of is None and route.is_listed:
            scopes = ", ".join(each.value for each in route.scopes) or "–"
            yield f"`{route.method} {route.path}`", route.summary, scopes


def scope_rows() -> Iterator[Row]:
    """What each scope opens beside what the scopes that it includes open."""
    yield "scope", "opens"
    for scope in (*Scope, None):
        opened: dict[tuple[str, str], list[str]] = {}
        for route in ROUTES:
            if route.scope is scope and route.alias_of is None:
                also = f" (and {route.also.value})" if route.also else ""
                opened.setdefault((route.path, also), []).append(route.method)
        listed = " · ".join(f"{','.join(methods)} `{path}`{also}" for (path, also), methods in sorted(opened.items()))
        yield scope.value if scope else "none: open to everybody", listed


def role_rows() -> Iterator[Row]:
    """What each role may call."""
    yield "role", "for", "includes", "functions of its own"
    for name, role in read_roles().items():
        own = " ".join(f"`{each}`" for each in sorted(role.calls))
        yield f"`{DEFAULT_PREFIX}{name}`", role.purpose, ", ".join(role.includes), own


TABLES: Mapping[str, Callable[[], Iterator[Row]]] = {
    "problems": problem_rows,
    "routes": route_rows,
    "scopes": scope_rows,
    "roles": role_rows,
}


def render(page: str) -> str:
    """The page with its tables as they are now."""
    for name, rows in TABLES.items():
        head, *others = rows()
        table = "".join(f"| {' | '.join(line)} |\n" for line in (head, ("---",) * len(head), *others))
        block = re.compile(rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)
        page = block.sub(lambda found, table=table: found[1] + table + found[2], page)
    return page


if __name__ == "__main__":
    for target in PAGES:
        target.write_text(render(target.read_text()))
