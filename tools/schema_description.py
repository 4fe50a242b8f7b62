"""Writes what a freshly migrated database looks like: sql/schema.txt for reviews and for `leasehold doctor`, and
sql/signatures.txt, the functions that roles may call, with their parameters and answers.

python tools/schema_description.py                  as long as nothing is released, the last release is the present state
python tools/schema_description.py --release 0.1    when 0.1 is released: from now on, calls of 0.1 have to work
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import trio

from leasehold.access.roles import internal_functions
from leasehold.database import open_database
from leasehold.database.embedded import embedded_postgres
from leasehold.database.migrations import expected_version, migrate
from leasehold.database.migrations.state import SCHEMA_FILE, describe_schema, list_signatures, write_description
from leasehold.database.signatures import CURRENT, HEAD, RELEASED

FOLDER = Path(__file__).parent.parent / "sql"


async def describe_fresh(dsn: str) -> tuple[str, str]:
    """The description of a database that was just migrated, and its signatures."""
    await migrate(dsn)
    async with open_database(dsn, pool_size=1) as database:
        description = write_description(await describe_schema(database))
        return description, await list_signatures(database, internal_functions())


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", help="the release that has this state")
    release: str | None = parser.parse_args().release
    with tempfile.TemporaryDirectory(prefix="leasehold-") as folder:
        Path(folder).chmod(0o755)
        with embedded_postgres(Path(folder) / "postgres", conf={"fsync": "off"}, sync=False) as server:
            description, signatures = trio.run(describe_fresh, server.dsn)
    (FOLDER / SCHEMA_FILE).write_text(description, encoding="utf-8")
    (FOLDER / CURRENT).write_text(signatures, encoding="utf-8")
    head = HEAD.match((FOLDER / RELEASED).read_text(encoding="utf-8"))
    if release or head is None or head["name"] == "none":
        title = f"# last release: {release or 'none'}, schema {expected_version()}\n"
        (FOLDER / RELEASED).write_text(title + signatures, encoding="utf-8")


if __name__ == "__main__":
    main()
