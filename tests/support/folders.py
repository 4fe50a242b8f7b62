"""Temporary folders for Postgres."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def short_folder() -> Generator[Path]:
    """A folder with a short path that other users may pass through.

    Not pytest's tmp_path: each run of pytest closes that to others, and where we are root, Postgres is another user.
    """
    folder = Path(tempfile.mkdtemp(prefix="leasehold-test-")).resolve()
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
