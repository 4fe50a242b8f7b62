"""What a database says about its schema, and how that compares with the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from leasehold.database.migrations.catalogue import Catalogue, Repeatable
from leasehold.database.signatures import released_schema

if TYPE_CHECKING:
    from leasehold.database import OpenTransaction


class SchemaState(msgspec.Struct, frozen=True, kw_only=True):
    """How the schema in a database compares with this code.

    `oldest`: the version that this code can still work on, that of the last release. `breaking`: it is newer by a change that
    this code cannot live with. `pending`: migrations that it lacks. `differing`: views and functions that it lacks or that
    were made from other texts. `lacking`: what this code has to do without, as "FUNCTION without PARAMETER".
    """

    status: Literal["missing", "older", "same", "newer"]
    version: int
    expected: int
    oldest: int = 0
    breaking: bool = False
    pending: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


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
        status: Literal["missing", "older", "same", "newer"] = "same"
        if self.version == 0:
            status = "missing"
        elif self.version != wanted.version:
            status = "older" if self.version < wanted.version else "newer"
        return SchemaState(
            status=status,
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
