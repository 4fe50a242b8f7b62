"""Where a process that crashes leaves its stack: a file without a name, so that none is left behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager

MOST_BYTES = 16_384


class StackFile:
    """The last words of processes, one after the other, and where they were when they were asked. Without a place for
    temporary files there are none."""

    def __init__(self) -> None:
        self._fd: int | None = None
        self._read_from = 0

    @contextmanager
    def at_a_path(self) -> Generator[str | None]:
        """A new empty file, by a path that holds as long as the block."""
        self.close()
        try:
            self._fd, path = tempfile.mkstemp(prefix="leasehold-stack-")
            self._read_from = 0
        except OSError:
            yield None
            return
        try:
            yield path
        finally:
            os.unlink(path)

    def read(self) -> str:
        """What stands in it, behind what was forgotten."""
        if self._fd is None:
            return ""
        return os.pread(self._fd, MOST_BYTES, self._read_from).decode(errors="replace")

    def forget(self) -> None:
        """Read only what comes from now on."""
        if self._fd is not None:
            self._read_from = os.fstat(self._fd).st_size

    def close(self) -> None:
        """Forget it."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)
