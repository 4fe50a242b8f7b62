"""Where a process that crashes leaves its stack: a file without a name, so that none is left behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager

MOST_BYTES = 16_384


class StackFile:
    """The last words of processes, one after the other. Without a place for temporary files there are none."""

    def __init__(self) -> None:
        self._fd: int | None = None

    @contextmanager
    def at_a_path(self) -> Generator[str | None]:
        """A new empty file, by a path that holds as long as the block."""
        self.close()
        try:
            self._fd, path = tempfile.mkstemp(prefix="leasehold-stack-")
        except OSError:
            yield None
            return
        try:
            yield path
        finally:
            os.unlink(path)

    def read(self) -> str:
        """What stands in it."""
        if self._fd is None:
            return ""
        return os.pread(self._fd, MOST_BYTES, 0).decode(errors="replace")

    def close(self) -> None:
        """Forget it."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)
