"""What the schema looks like in a database, object by object, and how that differs from what this code makes.

`sql/schema.txt` is the description of a freshly migrated database (`python tools/schema_description.py` writes it). It
reads the same on every Postgres that we know, so `leasehold doctor` can hold it against any database.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from leasehold.sql import read_text

if TYPE_CHECKING:
    from leasehold.database import AsyncioDatabase, Database

FILE = "schema.txt"
QUERY = "describe_schema.sql"
SIGNATURES = "list_signatures.sql"

Description = Mapping[str, str]
"""By kind and name (`index jobs.jobs_pending`), the definition in one line."""


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


async def describe(database: Database | AsyncioDatabase) -> Description:
    """The schema in a database. Empty where there is none."""
    async with database.transaction() as session:
        # Names are then written with their schema, whatever the database's own path is.
        await session.execute("set local search_path = pg_catalog")
        [row] = await session.fetch("select to_regnamespace('leasehold') is not null as is_there")
        rows = await session.fetch(read_text(QUERY)) if row["is_there"] else []
    return {f"{row['kind']} {row['name']}": _definition(row["kind"], row["definition"]) for row in rows}


async def list_signatures(database: Database, leave_out: Collection[str] = ()) -> str:
    """The functions in a database but for some, a line each, as `leasehold.database.signatures` reads them."""
    async with database.transaction() as session:
        await session.execute("set local search_path = pg_catalog")
        lines = [row["signature"] for row in await session.fetch(read_text(SIGNATURES))]
    return "".join(f"{line}\n" for line in lines if line.partition("(")[0] not in leave_out)


def read_committed() -> Description:
    """The schema as this code makes it."""
    return parse(read_text(FILE))


def write(description: Description) -> str:
    """As text, sorted, a line each."""
    return "".join(f"{name}: {description[name]}\n" for name in sorted(description))


def parse(text: str) -> Description:
    """What `write` has written."""
    pairs = (line.partition(": ") for line in text.splitlines() if line)
    return {name: definition for name, _, definition in pairs}


def compare(wanted: Description, found: Description) -> Drift:
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
