"""Temporary folders for Postgres."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")
ENOUGH_MEMORY = 4 * 2**30  # bytes


@contextmanager
def short_folder(*, fast: bool = False) -> Generator[Path]:
    """A folder with a short path that other users may pass through; a fast one is in memory where there is plenty.

    Not pytest's tmp_path: each run of pytest closes that to others, and where we are root, Postgres is another user.
    """
    place = MEMORY if fast and has_plenty(MEMORY) else None
    folder = Path(tempfile.mkdtemp(prefix="leasehold-test-", dir=place)).resolve()
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def has_plenty(folder: Path) -> bool:
    """Whether the folder is there, and may be filled."""
    return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > ENOUGH_MEMORY
