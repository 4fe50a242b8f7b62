"""The SQL of leasehold as text: migrations, functions (one file each) and views. Knows nobody.

Files are read through `importlib.resources`, so they work from a checkout and from a wheel alike.
"""

from __future__ import annotations

from importlib.resources import files


def read_folder(folder: str) -> dict[str, str]:
    """The texts of one folder (`migrations`, `functions`, `views`), by file stem, sorted by name."""
    found = (entry for entry in (files(__name__) / folder).iterdir() if entry.name.endswith(".sql"))
    return {
        entry.name.removesuffix(".sql"): entry.read_text(encoding="utf-8")
        for entry in sorted(found, key=lambda e: e.name)
    }


def read_text(name: str) -> str:
    """The text of one file beside the folders."""
    return (files(__name__) / name).read_text(encoding="utf-8")
