"""Find the files to count."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

LEFT_OUT = frozenset({"site-packages", "dist-packages", "test", "tests", "idle_test", "__pycache__"})


def standard_library() -> Path:
    """The folder of this Python's standard library."""
    return Path(sysconfig.get_path("stdlib"))


def find_sources(root: Path) -> list[str]:
    """The files to count, as paths relative to `root`, sorted. Raises NotADirectoryError."""
    if not root.is_dir():
        raise NotADirectoryError(f"{root} is no folder")
    found: list[str] = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if name not in LEFT_OUT]
        found += [Path(folder, name).relative_to(root).as_posix() for name in names if name.endswith(".py")]
    return sorted(found)
