"""Writes sql/schema.txt: what the schema looks like in a freshly migrated database, for reviews and for `leasehold doctor`.

python tools/schema_description.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import trio

from leasehold.database import open_database
from leasehold.database.embedded import embedded_postgres
from leasehold.database.migrations import migrate
from leasehold.database.migrations.state import SCHEMA_FILE, describe_schema, write_description

TARGET = Path(__file__).parent.parent / "sql" / SCHEMA_FILE


async def describe_fresh(dsn: str) -> str:
    """The description of a database that was just migrated."""
    await migrate(dsn)
    async with open_database(dsn, pool_size=1) as database:
        return write_description(await describe_schema(database))


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory(prefix="leasehold-") as folder:
        Path(folder).chmod(0o755)
        with embedded_postgres(Path(folder) / "postgres", conf={"fsync": "off"}, sync=False) as server:
            TARGET.write_text(trio.run(describe_fresh, server.dsn), encoding="utf-8")


if __name__ == "__main__":
    main()
