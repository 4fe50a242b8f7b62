"""The SQL of leasehold as text: migrations, functions (one file each) and views. Imports nothing of leasehold.

Files are read through `importlib.resources`, so they work from a checkout and from a wheel alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def read_folder(folder: str) -> dict[str, str]:
    """The texts of one folder (`migrations`, `functions`, `views`) and all folders in it, by file stem, sorted by name.

    Raises ValueError if two files have the same name, because a function is called as its file is.
    """
    found = sorted(_files_below(_here() / folder), key=lambda entry: entry.name)
    texts = {entry.name.removesuffix(".sql"): entry.read_text(encoding="utf-8") for entry in found}
    if len(texts) < len(found):
        names = [entry.name for entry in found]
        raise ValueError(
            f"two files of sql/{folder} have the same name: {sorted({n for n in names if names.count(n) > 1})}"
        )
    return texts


def read_text(name: str) -> str:
    """The text of one file beside the folders."""
    return (_here() / name).read_text(encoding="utf-8")


def _here() -> Traversable:
    from importlib.resources import files  # noqa: PLC0415  it is slow to load, and a program that enqueues reads no files

    return files(__name__)


def _files_below(folder: Traversable) -> Iterator[Traversable]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files_below(entry)
        elif entry.name.endswith(".sql"):
            yield entry
