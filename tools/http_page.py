"""Writes the tables of docs/http-api.md: the problems from their types, the routes from the route table."""

from __future__ import annotations

import re
from pathlib import Path

from leasehold.gateway.http import problems
from leasehold.gateway.http.problems import ProblemType
from leasehold.gateway.route_table import ROUTES

TARGET = Path(__file__).parent.parent / "docs" / "http-api.md"


def problem_table() -> str:
    """Every code, by status."""
    types = {each.code: each for each in vars(problems).values() if isinstance(each, ProblemType)}
    ordered = sorted(types.values(), key=lambda each: (each.status, each.code))
    return _table(("status", "code", "means"), [(str(each.status), f"`{each.code}`", each.title) for each in ordered])


def route_table() -> str:
    """Every route but aliases."""
    rows = [
        (f"`{route.method} {route.path}`", route.summary, ", ".join(each.value for each in route.scopes) or "–")
        for route in ROUTES
        if route.alias_of is None and route.is_listed
    ]
    return _table(("route", "", "scope"), rows)


def render(page: str) -> str:
    """The page with both tables as they are now."""
    for name, table in (("problems", problem_table()), ("routes", route_table())):
        page = re.sub(rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)", rf"\g<1>{table}\g<2>", page, flags=re.DOTALL)
    return page


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = (head, tuple("---" for _ in head), *rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    TARGET.write_text(render(TARGET.read_text()))
