"""Whether the schema in the database is one that this code can work on, asked over a connection that is there."""

from __future__ import annotations

from leasehold.database import Caller
from leasehold.errors import SchemaMismatch

VERSIONS = """
    select coalesce(max(version), 0) as version, coalesce(bool_or(breaking and version > $1), false) as breaking
      from leasehold.schema_migrations
"""


async def check_version(database: Caller, expected: int, oldest: int) -> None:
    """Raises SchemaMismatch if the schema is missing, older than `oldest`, or newer than `expected` by a breaking change."""
    [row] = await database.fetch(VERSIONS, expected)
    version = row["version"]
    if version < max(1, oldest):
        raise SchemaMismatch(f"The schema has version {version}, this code needs {expected}; run `leasehold migrate`")
    if row["breaking"]:
        raise SchemaMismatch(f"The schema has version {version}, this code knows {expected}; update leasehold")
