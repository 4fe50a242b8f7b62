"""The schema as the files in `sql/` describe it: numbered migrations, then views and functions, each replaced whole.

Former signatures of functions, in `sql/former/`, come last: `FUNCTION__RELEASE.sql` keeps what the release before could call.
Views and functions are in an order in which they can be made. Bodies of functions are not checked while they are made,
so a function counts as needing what its signature names; a view needs everything that it names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from graphlib import TopologicalSorter
from hashlib import sha256
from typing import Literal

import msgspec

from leasehold.sql import read_folder

REFUSE_ENCODING = """\
do $$
begin
    if to_regclass('leasehold.schema_migrations') is null and getdatabaseencoding() <> 'UTF8' then
        raise exception using errcode = 'LH010',
            message = format('the database %s has the encoding %s, in which not every text can be kept, and leasehold needs UTF8',
                             current_database(), getdatabaseencoding()),
            hint = 'make one with `createdb --encoding UTF8 --template template0 NAME`, and name it instead';
    end if;
end
$$;
"""
PREAMBLE = f"""\
select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('leasehold.migrate', 0));
set local search_path = pg_catalog;
set local check_function_bodies = off;
set local client_min_messages = warning;
set local statement_timeout = 0;
set local lock_timeout = '10s';
{REFUSE_ENCODING}do $$
begin
    if to_regnamespace('leasehold') is null then
        create schema leasehold;
    end if;
end
$$;
create table if not exists leasehold.schema_migrations (
    version    integer primary key,
    name       text not null,
    checksum   text not null,
    breaking   boolean not null,
    applied_at timestamptz not null default clock_timestamp(),
    applied_by text not null default session_user
);
create table if not exists leasehold.schema_repeatables (
    kind       text not null check (kind in ('view', 'function', 'former')),
    name       text not null,
    checksum   text not null,
    applied_at timestamptz not null default clock_timestamp(),
    primary key (kind, name)
);
"""

Key = tuple[str, str]  # kind and name


class Migration(msgspec.Struct, frozen=True):
    """One numbered file, never edited once it was released; where jobs run, a transaction of its own.

    A line that starts with `-- breaking` marks one that older code cannot live with. With `-- concurrently`, each of its
    statements runs on its own, outside a transaction, for as long as it takes: they must hold nobody up, and doing one
    again must do no harm. An index that was left half made is made anew.
    """

    version: int
    name: str
    text: str

    @property
    def breaking(self) -> bool:
        return re.search(r"^-- breaking\b", self.text, re.MULTILINE) is not None

    @property
    def is_concurrent(self) -> bool:
        return re.search(r"^-- concurrently\b", self.text, re.MULTILINE) is not None

    @property
    def statements(self) -> tuple[str, ...]:
        """What a concurrent one runs, one after the other."""
        bare = re.sub(r"--[^\n]*", "", self.text)
        return tuple(each.strip() for each in re.split(r";\s*(?:\n|$)", bare) if each.strip())

    @property
    def script(self) -> str:
        """For a database that nobody uses yet: all of it may be in one transaction."""
        if not self.is_concurrent:
            return self.text
        return "".join(re.sub(r"\bconcurrently\s+", "", each) + ";\n" for each in self.statements)

    @property
    def title(self) -> str:
        return f"{self.version:04}_{self.name}"

    @property
    def checksum(self) -> str:
        return _checksum(self.text)

    @property
    def record(self) -> str:
        """Writes down that it is applied."""
        values = f"{self.version}, '{self.name}', '{self.checksum}', {str(self.breaking).lower()}"
        return f"\ninsert into leasehold.schema_migrations (version, name, checksum, breaking) values ({values});\n"


class Repeatable(msgspec.Struct, frozen=True):
    """One view, function or former signature of a function, made again whenever its text changes."""

    kind: Literal["view", "function", "former"]
    name: str
    text: str

    @property
    def key(self) -> Key:
        return self.kind, self.name

    @property
    def title(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def made(self) -> Key:
        """What it makes in the database."""
        return made_by(*self.key)

    @property
    def checksum(self) -> str:
        return _checksum(self.text)

    def needs(self) -> set[str]:
        """Names in our schema that must exist before this can be made (others than views and functions among them)."""
        text = re.sub(r"--[^\n]*", "", self.text)
        if self.kind != "view":
            text = re.split(r"\bas\s+\$", text, maxsplit=1, flags=re.IGNORECASE)[0]
        return set(re.findall(r"\bleasehold\.(\w+)", text)) - {self.name}


class Catalogue(msgspec.Struct, frozen=True):
    """All of it. ValueError where migrations are not numbered 1, 2, 3…, or views and functions go round in a circle."""

    migrations: tuple[Migration, ...]
    repeatables: tuple[Repeatable, ...]

    @classmethod
    def of(
        cls,
        migrations: Mapping[str, str],
        views: Mapping[str, str],
        functions: Mapping[str, str],
        former: Mapping[str, str] | None = None,
    ) -> Catalogue:
        """From the texts of the files, by file stem."""
        numbered = tuple(_migration(stem, text) for stem, text in sorted(migrations.items()))
        if [migration.version for migration in numbered] != list(range(1, len(numbered) + 1)):
            raise ValueError(f"migrations must be numbered 1, 2, 3…: {', '.join(m.title for m in numbered)}")
        items = [Repeatable("view", name, text) for name, text in sorted(views.items())]
        items += [Repeatable("function", name, text) for name, text in sorted(functions.items())]
        kept = [Repeatable("former", name, text) for name, text in sorted((former or {}).items())]
        return cls(numbered, (*_in_order(items), *kept))

    @classmethod
    @cache
    def read(cls) -> Catalogue:
        """From the files of this installation, which are read once."""
        return cls.of(read_folder("migrations"), read_folder("views"), read_folder("functions"), read_folder("former"))

    @property
    def closing_calls(self) -> list[str]:
        """What is called once everything is there: the partitions of the days to come are made ahead."""
        is_there = any(item.name == "ensure_partitions" for item in self.repeatables)
        return ["leasehold.ensure_partitions()"] if is_there else []

    @property
    def version(self) -> int:
        return len(self.migrations)

    def dependents(self, name: str) -> list[Repeatable]:
        """The views and functions that have to be dropped before a name can be, in the order for that."""
        gone = {name}
        found: list[Repeatable] = []
        for item in self.repeatables:
            if item.needs() & gone:
                gone.add(item.name)
                found.append(item)
        return found[::-1]

    def script(self) -> str:
        """SQL that makes and records the schema in a database without it, in one transaction. Always the same text."""
        return f"-- leasehold: the whole schema, for a database without it.\nbegin;\n{PREAMBLE}{self.body()}commit;\n"

    def body(self) -> str:
        """The script for whoever has begun the transaction, and prepared it with `PREAMBLE`."""
        parts: list[str] = []
        for migration in self.migrations:
            parts += [f"\n-- {migration.title}\n", migration.script, migration.record]
        for item in self.repeatables:
            parts += [f"\n-- {item.title}\n", item.text, _record_repeatable(item)]
        parts += [f"\nselect {call};\n" for call in self.closing_calls]
        return "".join(part if part.endswith("\n") else part + "\n" for part in parts)


def made_by(kind: str, name: str) -> Key:
    """What something of this kind and name makes in the database."""
    return ("function", name.partition("__")[0]) if kind == "former" else (kind, name)


def _record_repeatable(item: Repeatable) -> str:
    values = f"'{item.kind}', '{item.name}', '{item.checksum}'"
    return f"\ninsert into leasehold.schema_repeatables (kind, name, checksum) values ({values});\n"


def _migration(stem: str, text: str) -> Migration:
    found = re.fullmatch(r"(\d{4})_(\w+)", stem)
    if found is None:
        raise ValueError(f"a migration is called NNNN_name.sql, not {stem}.sql")
    return Migration(int(found[1]), found[2], text)


def _in_order(items: list[Repeatable]) -> list[Repeatable]:
    by_name = {item.name: item for item in items}
    if len(by_name) != len(items):
        raise ValueError("a view and a function have the same name")
    sorter = TopologicalSorter({item.name: sorted(item.needs() & by_name.keys()) for item in items})
    return [by_name[name] for name in sorter.static_order()]


def _checksum(text: str) -> str:
    return sha256(text.encode()).hexdigest()
