"""Writes sql/signatures.txt: the functions that roles may call, with their parameters and answers.

python tools/signatures.py                  as long as nothing is released, the last release is the present state
python tools/signatures.py --release 0.1    when 0.1 is released: from now on, calls of 0.1 have to work
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
from leasehold.database.migrations.state import list_signatures
from leasehold.database.signatures import CURRENT, HEAD, RELEASED

FOLDER = Path(__file__).parent.parent / "sql"


async def list_fresh(dsn: str) -> str:
    """The signatures in a database that was just migrated."""
    await migrate(dsn)
    async with open_database(dsn, pool_size=1) as database:
        return await list_signatures(database, internal_functions())


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", help="the release that has this state")
    release: str | None = parser.parse_args().release
    with tempfile.TemporaryDirectory(prefix="leasehold-") as folder:
        Path(folder).chmod(0o755)
        with embedded_postgres(Path(folder) / "postgres", conf={"fsync": "off"}, sync=False) as server:
            text = trio.run(list_fresh, server.dsn)
    (FOLDER / CURRENT).write_text(text, encoding="utf-8")
    head = HEAD.match((FOLDER / RELEASED).read_text(encoding="utf-8"))
    if release or head is None or head["name"] == "none":
        title = f"# last release: {release or 'none'}, schema {expected_version()}\n"
        (FOLDER / RELEASED).write_text(title + text, encoding="utf-8")


if __name__ == "__main__":
    main()
