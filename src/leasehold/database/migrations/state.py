"""What a database says about its schema, and how that compares with the files of this code.

Three looks, each finer: its version (`check_version`), the checksums of what was applied (`Applied`), and the objects themselves,
one by one. `sql/schema.txt` describes those of a freshly migrated database (`python tools/schema_description.py` writes it). It
reads the same on every Postgres that we know, so `leasehold doctor` can hold it against any database.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

import msgspec

from leasehold.database import Caller
from leasehold.database.migrations.catalogue import REFUSE_ENCODING, Catalogue, Repeatable
from leasehold.database.signatures import released_schema
from leasehold.errors import SchemaMismatch, SchemaOutdated
from leasehold.sql import read_text

if TYPE_CHECKING:
    from leasehold.database import Database, OpenTransaction

VERSIONS = """
    select coalesce(max(version), 0) as version, coalesce(bool_or(breaking and version > $1), false) as breaking
      from leasehold.schema_migrations
"""

# Postgres then writes definitions alike, with the schema of each name, whatever the database or the role has set.
PLAINLY = """
set local search_path = pg_catalog; set local quote_all_identifiers = off; set local bytea_output = hex;
set local intervalstyle = postgres; set local datestyle = iso; set local extra_float_digits = 1;
set local standard_conforming_strings = on; set local timezone = 'UTC'
"""

SCHEMA_FILE = "schema.txt"
DESCRIBE = "describe_schema.sql"
SIGNATURES = "list_signatures.sql"

Description = Mapping[str, str]
"""By kind and name (`index jobs.jobs_pending`), the definition in one line."""


Status = Literal["missing", "older", "same", "newer"]


class SchemaState(msgspec.Struct, frozen=True, kw_only=True):
    """How the schema in a database compares with this code.

    `oldest`: the version that this code can still work on, that of the last release. `breaking`: it is newer by a change that
    this code cannot live with. `pending`: migrations that it lacks. `differing`: views and functions that it lacks or that
    were made from other texts. `lacking`: what this code has to do without, as "FUNCTION without PARAMETER".
    """

    status: Status
    version: int
    expected: int
    oldest: int = 0
    breaking: bool = False
    pending: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


def status_of(version: int, expected: int) -> Status:
    """How the version of a schema stands to that of this code; 0: there is none."""
    if version == 0:
        return "missing"
    return "older" if version < expected else "newer" if version > expected else "same"


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """Checksums of what was applied, and which views and functions exist, each by kind and name."""

    migrations: dict[int, str]
    breaking: frozenset[int]
    repeatables: dict[tuple[str, str], str]
    existing: frozenset[tuple[str, str]]

    @classmethod
    async def read(cls, session: OpenTransaction) -> Applied:
        """Read it; empty for a database without our schema."""
        rows = await session.fetch("select to_regclass('leasehold.schema_migrations') is not null as present")
        if not rows[0]["present"]:
            return cls(migrations={}, breaking=frozenset(), repeatables={}, existing=frozenset())
        migrations = await session.fetch("select version, checksum, breaking from leasehold.schema_migrations")
        repeatables = await session.fetch("select kind, name, checksum from leasehold.schema_repeatables")
        return cls(
            migrations={row["version"]: row["checksum"] for row in migrations},
            breaking=frozenset(row["version"] for row in migrations if row["breaking"]),
            repeatables={(row["kind"], row["name"]): row["checksum"] for row in repeatables},
            existing=await read_existing(session),
        )

    @property
    def version(self) -> int:
        """The newest migration; 0 where there is none."""
        return max(self.migrations, default=0)

    def lacks(self, item: Repeatable) -> bool:
        """Whether a view or function is missing or was made from another text."""
        return item.made not in self.existing or self.repeatables.get(item.key) != item.checksum

    def compare(self, wanted: Catalogue) -> SchemaState:
        """The difference, for people and for `doctor`."""
        return SchemaState(
            status=status_of(self.version, wanted.version),
            version=self.version,
            expected=wanted.version,
            oldest=min(released_schema(), wanted.version),
            breaking=any(version > wanted.version for version in self.breaking),
            pending=tuple(m.title for m in wanted.migrations if m.version not in self.migrations),
            differing=tuple(item.title for item in wanted.repeatables if self.lacks(item)),
        )


async def read_existing(session: OpenTransaction) -> frozenset[tuple[str, str]]:
    """Kind and name of every view and function in our schema."""
    rows = await session.fetch(
        "select 'view' as kind, viewname::text as name from pg_catalog.pg_views where schemaname = 'leasehold' "
        "union select 'function', proname::text from pg_catalog.pg_proc where pronamespace = 'leasehold'::regnamespace"
    )
    return frozenset((row["kind"], row["name"]) for row in rows)


async def read_other_tables(session: OpenTransaction) -> int:
    """How many tables there are that are neither ours nor of Postgres nor of an extension."""
    rows = await session.fetch(
        "select count(*) as tables from pg_catalog.pg_class c "
        "where c.relkind in ('r', 'p', 'f') and c.relpersistence <> 't' "
        "and c.relnamespace::regnamespace::text not in ('leasehold', 'pg_catalog', 'information_schema', 'pg_toast') "
        "and not exists (select from pg_catalog.pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid "
        "and d.deptype = 'e')"
    )
    return rows[0]["tables"]


def schema_problem(state: SchemaState) -> str | None:
    """Why this code cannot work on a schema in this state, and what to do; None if it can."""
    have = f"the schema is at version {state.version}"
    match state.status:
        case "missing":
            return "the database has no leasehold schema yet: run `leasehold migrate`"
        case "older" if state.version < state.oldest:
            return f"{have} and this code needs {state.expected}: run `leasehold migrate`"
        case "newer" if state.breaking:
            return f"{have}, which is too new for this code: install a newer leasehold"
        case _:
            return None


async def check_version(database: Caller) -> None:
    """Raises SchemaOutdated if the schema is missing or older than that of the last release, and SchemaMismatch if it is newer than
    this code by a breaking change. Raises WrongAddress if it is missing and `migrate` would refuse the database's encoding."""
    expected = Catalogue.read().version
    oldest = max(1, min(released_schema(), expected))
    try:
        [row] = await database.fetch(VERSIONS, expected)
        version, breaking = row["version"], row["breaking"]
    except SchemaOutdated:  # not even the table of its versions is there
        version, breaking = 0, False
    status = status_of(version, expected)
    if status == "missing":
        await database.fetch(REFUSE_ENCODING)
    state = SchemaState(status=status, version=version, expected=expected, oldest=oldest, breaking=breaking)
    if problem := schema_problem(state):
        raise (SchemaMismatch if state.breaking else SchemaOutdated)(problem)


class Drift(msgspec.Struct, frozen=True):
    """What a database lacks, has otherwise, and has beyond what this code makes; each by kind and name."""

    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def meddling(self) -> tuple[str, ...]:
        """Extra objects that change what our statements do."""
        return tuple(
            each for each in self.extra if each.partition(" ")[0] in {"trigger", "rule", "policy", "constraint"}
        )


async def describe_schema(database: Database) -> Description:
    """The schema in a database. Empty where there is none."""
    async with database.transaction() as session:
        await session.execute(PLAINLY)
        [row] = await session.fetch("select to_regnamespace('leasehold') is not null as is_there")
        rows = await session.fetch(read_text(DESCRIBE)) if row["is_there"] else []
    return {f"{row['kind']} {row['name']}": _definition(row["kind"], row["definition"]) for row in rows}


async def list_signatures(database: Database, leave_out: Collection[str] = ()) -> str:
    """The functions in a database but for some, a line each, as `leasehold.database.signatures` reads them."""
    async with database.transaction() as session:
        await session.execute(PLAINLY)
        lines = [row["signature"] for row in await session.fetch(read_text(SIGNATURES))]
    return "".join(f"{line}\n" for line in lines if line.partition("(")[0] not in leave_out)


def read_description() -> Description:
    """The schema as this code makes it."""
    return parse_description(read_text(SCHEMA_FILE))


def write_description(description: Description) -> str:
    """As text, sorted, a line each."""
    return "".join(f"{name}: {description[name]}\n" for name in sorted(description))


def parse_description(text: str) -> Description:
    """What `write` has written."""
    pairs = (line.partition(": ") for line in text.splitlines() if line)
    return {name: definition for name, _, definition in pairs}


def compare_descriptions(wanted: Description, found: Description) -> Drift:
    """How `found` differs from `wanted`."""
    return Drift(
        missing=tuple(sorted(wanted.keys() - found.keys())),
        changed=tuple(sorted(name for name in wanted.keys() & found.keys() if wanted[name] != found[name])),
        extra=tuple(sorted(found.keys() - wanted.keys())),
    )


def _definition(kind: str, text: str) -> str:
    line = " ".join(text.split())
    if kind != "view":
        return line
    # Before version 16 Postgres writes `jobs.id` in a view where it later writes `id`.
    return "body " + sha256(re.sub(r"\b[a-z_]\w*\.|[\s()]", "", line).encode()).hexdigest()[:16]
