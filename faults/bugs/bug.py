"""A bug: what it changes in the SQL, the scene that shows it, and the invariants that it breaks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import LiteralString, cast

import msgspec
import psycopg

from faults.bugs.scene import Scene

FUNCTIONS = Path(__file__).resolve().parents[2] / "sql" / "functions"


class Patch(msgspec.Struct, frozen=True):
    """Text of one file under `sql/functions`, and what takes its place wherever it stands."""

    file: str
    find: str
    put: str


class Bug(msgspec.Struct, frozen=True):
    """`rules` are those of which at least one must be found broken; `sql` is run after the patches."""

    name: str
    what: str
    scene: Callable[[Scene], None]
    rules: tuple[str, ...]
    patches: tuple[Patch, ...] = ()
    sql: str = ""

    def put_into(self, dsn: str) -> None:
        """Make the copy of leasehold in this database have the bug."""
        with psycopg.connect(dsn, autocommit=True) as connection:
            for text in [patched(self.patches, file) for file in dict.fromkeys(patch.file for patch in self.patches)]:
                connection.execute(cast("LiteralString", text))
            if self.sql:
                connection.execute(cast("LiteralString", self.sql))


def patched(patches: tuple[Patch, ...], file: str) -> str:
    """One file with all patches that are for it. Raises ValueError where one of them does not fit."""
    text = (FUNCTIONS / file).read_text()
    for patch in patches:
        if patch.file == file:
            if patch.find not in text:
                raise ValueError(f"{file} has changed, so that the bug does not fit: there is no {patch.find!r}")
            text = text.replace(patch.find, patch.put)
    return text
