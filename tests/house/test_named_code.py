"""Modules, classes, functions and other names of code that pages and docstrings have in back quotes are there."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import leasehold
from tests.house.test_named_files import ROOMS, ROOT, definitions, docstrings, parsed, texts

PACKAGES = ("leasehold", "actors", "gateway", "notify", "faults", "benchmarks", "tools", "tests")
OF_LEASEHOLD = ("actors", "gateway", "notify")
INSTANCES = {"client": "Client", "job": "Job", "app": "App"}
OWN_BASES = frozenset({"Generic", "NamedTuple", "Protocol", "Struct", "object"})
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
DOTTED = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\(.*\))?")
CALLED = re.compile(r"([a-z_]\w*)\([^()]*\)")
JOINED = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}")
SET = re.compile(r"\bself\.(\w+)")
WORD = re.compile(r"[\w.]+")
# Of Python, Postgres, Django and poolers, an example, the roles, whose names are put together in SQL, and what decisions rejected.
OTHERS = frozenset({
    "claim_jobs_v2", "select_jobs(filter)", "Event.set",
    "QueueHandler", "StrEnum", "Thread.start", "copy_records_to_table", "cr_frame", "expire_seconds", "last_fetch_at",
    "leasehold.view_jobs", "leasehold_maintainer", "leasehold_operator", "leasehold_query", "leasehold_reader", "leasehold_waiter",
    "max_prepared_statements", "on_commit", "pg_upgrade",
})  # fmt: skip
FOREIGN_PAGES = "coming-from-"
"""Pages that put names of another library beside ours."""


@cache
def files() -> dict[str, Path]:
    """The file of each module by its dotted name, as users import it: the rooms at the top also below `leasehold`."""
    found: dict[str, Path] = {}
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removeprefix("src.").removesuffix(".__init__")
            found[name] = path
            if room in OF_LEASEHOLD:
                found[f"leasehold.{name}"] = path
    return found


@cache
def written() -> frozenset[str]:
    """All words of the sources, joined ones and dotted ones, without comments and docstrings."""
    found: set[str] = set(dir(builtins))
    for path in set(files().values()) - {Path(__file__)}:
        lines = path.read_text().splitlines()
        for _, place in docstrings(path):
            lines[place.lineno - 1 : place.end_lineno] = [""] * ((place.end_lineno or place.lineno) - place.lineno + 1)
        found.update(words(re.sub(r"#.*", "", "\n".join(lines))))
    for path in (ROOT / "sql").rglob("*.sql"):
        found.update(words(re.sub(r"--.*", "", path.read_text())))
    others = (*(ROOT / "gateway/dashboard").rglob("*.js"), *(ROOT / "deploy").rglob("*"), ROOT / "pyproject.toml")
    for path in others:
        if path.is_file():
            found.update(words(path.name), words(path.read_text()))
    return frozenset(found)


def words(text: str) -> Iterator[str]:
    for word in WORD.findall(text):
        yield word.strip(".")
        yield from word.split(".")


def defined(body: Iterable[ast.stmt]) -> Iterator[str]:
    """What statements define, import and assign."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (each.asname or each.name for each in names)
            case ast.Assign(targets=targets):
                yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.If(body=inner) | ast.Try(body=inner):
                yield from defined(inner)
            case _:
                pass


@cache
def classes() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """By name, what classes have of their own, attributes that methods set among it, and their bases."""
    own, bases = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for path in set(files().values()):
        lines: list[str] = []
        for node in definitions(path):
            if isinstance(node, ast.ClassDef):
                lines = lines or path.read_text().splitlines()
                own[node.name].update(defined(node.body))
                own[node.name].update(SET.findall("\n".join(lines[node.lineno : node.end_lineno])))
                bases[node.name].update(ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases)
    return own, bases


def has(name: str, member: str) -> bool:
    """Whether the class has it. What has a base of elsewhere may have anything."""
    own, bases = classes()
    if name not in own:
        return name not in OWN_BASES
    return member in own[name] or any(has(base, member) for base in bases[name] - {name})


def is_there(name: str) -> bool:
    """Whether `package.module.name`, `Class.member`, a name of an instance, or a text of this form in the sources is there."""
    parts = name.split(".")
    if name in written():
        return True
    if (cls := INSTANCES.get(parts[0], parts[0])) in classes()[0]:
        return has(cls, parts[1])
    split = next((at for at in range(len(parts), 0, -1) if ".".join(parts[:at]) in files()), 0)
    module, rest = ".".join(parts[:split]), parts[split:]
    if not split or not rest:
        return bool(split)
    names = leasehold.__all__ if module == "leasehold" else set(defined(parsed(files()[module]).body))
    return rest[0] in names and (len(rest) == 1 or rest[0] not in classes()[0] or has(rest[0], rest[1]))


def quoted() -> Iterator[tuple[str, str, str]]:
    """Where something stands in back quotes in a sentence, what it is, and the whole text there."""
    decisions = ((page, page.read_text()) for page in ROOT.glob("docs/*/*.md"))
    for where, text in (*texts(), *decisions):
        for found in QUOTED.findall(FENCE.sub("", text)):
            if found not in OTHERS and not (FOREIGN_PAGES in where.name and not found.startswith("leasehold")):
                yield str(where.relative_to(ROOT)), found, text


def test_every_dotted_name_of_ours_is_there() -> None:
    missing = [
        (where, name)
        for where, name, _ in quoted()
        if not name.endswith(".py")
        and (found := DOTTED.fullmatch(name))
        and ((head := found[1].partition(".")[0]) in PACKAGES or head in INSTANCES or head in classes()[0])
        and not is_there(found[1])
    ]
    assert missing == []


def test_every_name_of_code_stands_in_the_code() -> None:
    missing = [
        (where, name)
        for where, name, text in quoted()
        if (found := CALLED.fullmatch(name) or JOINED.fullmatch(name))
        and (alone := found[0].partition("(")[0]) not in written()
        and not any(re.search(rf"\b{alone}\b", block) for block in FENCE.findall(text))
    ]
    assert missing == []
