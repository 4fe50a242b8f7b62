"""Sources in a test's database, and what stands in their tables."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from leasehold.database import Database
from leasehold.moving.sources import load_mapping, with_names
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parents[3]


def make_tables(library: str, dsn: str) -> None:
    """Make the tables of a library with its own migrations."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.support.sources.libraries", library, dsn]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert made.returncode == 0, made.stderr


async def define(database: Database, mapping: str, names: dict[str, Any] | None = None, name: str | None = None) -> str:
    """Define a source by a ready mapping; returns its name."""
    await define_as(database, name or mapping, with_names(load_mapping(mapping), names or {}))
    return name or mapping


async def define_as(database: Database, name: str, mapping: dict[str, Any]) -> None:
    """Define a source."""
    await database.call("define_source", name, msgspec.json.encode(mapping).decode())


async def counted(database: Database, table: str, column: str) -> dict[str, int]:
    """How many rows of a table have each value of a column."""
    rows = await database.fetch(f"select {column}::text as what, count(*) as rows from {table} group by 1")
    return {row["what"]: row["rows"] for row in rows}


async def jobs_of(database: Database) -> list[dict[str, Any]]:
    """The jobs, oldest first, as far as the tests look at them."""
    rows = await database.fetch(
        "select kind, queue, key, state, priority, max_attempts, args::text, metadata::text, run_at from leasehold.jobs order by id"
    )
    return [
        {
            **dict(row),
            "args": msgspec.json.decode(row["args"]),
            "metadata": msgspec.json.decode(row["metadata"] or "null"),
        }
        for row in rows
    ]
