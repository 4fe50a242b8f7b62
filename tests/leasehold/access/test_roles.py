"""The table of roles: nobody is forgotten in it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from leasehold.access.roles import (
    EVERYBODY,
    INTERNAL,
    QUERY_FUNCTIONS,
    RoleName,
    functions_of,
    public_functions,
)
from leasehold.sql import read_folder

ROOT = Path(__file__).parents[3]
MAINTAINERS = {"accountant", "due_jobs", "janitor", "reaper", "scheduler"}
# Words that are no calls.
WORDS = {("channel", "wake")}
CALLERS: list[tuple[Path, RoleName]] = [
    *((file, "maintainer" if file.stem in MAINTAINERS else "worker") for file in ROOT.glob("actors/**/*.py")),
    *((file, "producer") for file in ROOT.glob("notify/*.py")),
    *((file, "operator") for room in ("gateway", "src/leasehold/client") for file in ROOT.glob(f"{room}/**/*.py")),
]


def test_every_function_stands_in_the_table_of_roles() -> None:
    known = public_functions() | INTERNAL | EVERYBODY
    missing, surplus = sorted(set(read_folder("functions")) - known), sorted(known - set(read_folder("functions")))
    assert not missing, (
        f"{', '.join(missing)}: add each to the rows of src/leasehold/access/roles.py of those who may call it, "
        "or to INTERNAL if only other functions do"
    )
    assert not surplus, f"{', '.join(surplus)}: no such function; take it out of src/leasehold/access/roles.py"


def test_a_function_is_internal_or_somebody_s_but_not_both() -> None:
    assert not INTERNAL & (public_functions() | EVERYBODY)
    assert public_functions() >= QUERY_FUNCTIONS


def test_what_runs_with_the_rights_of_its_owner_looks_names_up_in_a_fixed_place() -> None:
    files = read_folder("functions")
    for name in public_functions():
        assert "set search_path = leasehold, pg_catalog, pg_temp" in files[name], f"{name} would be open to its callers"


def names_in(file: Path) -> set[str]:
    """The SQL functions that a module names in its text constants."""
    functions = read_folder("functions").keys()
    texts = [
        node.value
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return {name for text in texts for name in (text, *re.findall(r"leasehold\.(\w+)\(", text)) if name in functions}


def test_what_our_own_programs_call_their_role_may_call() -> None:
    for file, role in CALLERS:
        called = {name for name in names_in(file) if (file.stem, name) not in WORDS}
        lacking = sorted(called - functions_of(role))
        assert not lacking, f"{file.name} calls {', '.join(lacking)}: add it to {role} in src/leasehold/access/roles.py"
