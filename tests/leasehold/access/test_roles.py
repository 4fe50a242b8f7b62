"""The table of roles: nobody is forgotten in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from pathlib import Path

from leasehold.access.roles import EVERYBODY, PLAIN, ROLE_NAMES, RoleName, functions_of, public_functions, read_roles
from leasehold.sql import read_folder

ROOT = Path(__file__).parents[3]
MAINTAINERS = "upkeep"
WRITING_NOTHING: tuple[RoleName, ...] = ("reader", "scaler")
SEEING_NO_CONTENTS: tuple[RoleName, ...] = ("producer", "scaler")
WRITING = re.compile(
    r"\b(insert into|update leasehold|delete from|truncate|merge into|lock table|nextval|setval|set_config|pg_notify|execute\b"
    r"|for (?:no key )?update|for (?:key )?share|pg_advisory\w*|create|alter|drop)\b"
)
HARMLESS = {
    "find_schedule": "locks only when it is told to, which functions that only look do not",
    "measure_rates": "runs a SELECT, in which the name of a partition stands",
}
CONTENTS = {"args", "output", "error", "metadata", "detail"}
ROWS_WITH_CONTENTS = re.compile(r"\b(setof leasehold\.(?:jobs|all_jobs|all_chains|finished_jobs|job_timeline))\b")
# Words that are no calls.
WORDS = {("channel", "wake")}
CALLERS: list[tuple[Path, RoleName]] = [
    *((file, "maintainer" if file.parent.name == MAINTAINERS else "worker") for file in ROOT.glob("actors/**/*.py")),
    *((file, "producer") for file in ROOT.glob("notify/**/*.py")),
    (ROOT / "src/leasehold/asks.py", "operator"),
    *((file, "operator") for room in ("gateway", "src/leasehold/client") for file in ROOT.glob(f"{room}/**/*.py")),
]


def test_the_table_names_each_role_and_only_functions_that_are_there() -> None:
    assert tuple(read_roles()) == ROLE_NAMES
    surplus = sorted((public_functions() | EVERYBODY) - set(read_folder("functions")))
    assert not surplus, f"{', '.join(surplus)}: no such function; take it out of sql/roles.sql"


def test_what_runs_with_the_rights_of_its_owner_looks_names_up_in_a_fixed_place() -> None:
    files = read_folder("functions")
    for name in public_functions() - PLAIN:
        assert "set search_path = leasehold, pg_catalog, pg_temp" in files[name], f"{name} would be open to its callers"


def names_in(file: Path, functions: Collection[str]) -> set[str]:
    """Those of the SQL functions that a module names in its text constants."""
    texts = [
        node.value
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return {name for text in texts for name in (text, *re.findall(r"leasehold\.(\w+)\(", text)) if name in functions}


def test_what_our_own_programs_call_their_role_may_call() -> None:
    functions = read_folder("functions").keys()
    for file, role in CALLERS:
        called = {name for name in names_in(file, functions) if (file.stem, name) not in WORDS}
        lacking = sorted(called - functions_of(role))
        assert not lacking, f"{file.name} calls {', '.join(lacking)}: add it to {role} in sql/roles.sql"


def called_by(names: frozenset[str]) -> set[str]:
    """These functions, and all that they call, directly or through others."""
    files, found, open_names = read_folder("functions"), set[str](), set(names)
    while open_names:
        name = open_names.pop()
        found.add(name)
        open_names |= (set(re.findall(r"leasehold\.(\w+)\(", code(files[name]))) & files.keys()) - found
    return found


def code(text: str) -> str:
    """A file without its comments, hints and first words."""
    return re.sub(r"--[^\n]*|create or replace function|hint = '(?:[^']|'')*'", "", text)


def test_what_a_role_that_only_looks_calls_holds_no_word_that_writes() -> None:
    files = read_folder("functions")
    for role in WRITING_NOTHING:
        words = {name: WRITING.findall(code(files[name])) for name in called_by(functions_of(role))}
        assert {name: found for name, found in words.items() if found and name not in HARMLESS} == {}, role
    assert "find_schedule(get_schedule.name)" in files["get_schedule"]


def test_a_role_that_sees_no_contents_gets_none_in_an_answer() -> None:
    files = read_folder("functions")
    for role in SEEING_NO_CONTENTS:
        for name in functions_of(role):
            answer = re.split(r"\blanguage\b", code(files[name]).split(" returns ", 1)[-1], maxsplit=1)[0]
            assert not CONTENTS & set(re.findall(r"\w+", answer)), f"{role} sees contents through {name}"
            assert not ROWS_WITH_CONTENTS.search(answer), f"{role} sees contents through {name}"
