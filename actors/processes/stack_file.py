"""Where a process that crashes leaves its stack: a file without a name, so that none is left behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager

MOST_BYTES = 16_384


class StackFile:
    """Keeps the stacks that processes write when they crash, and when they are asked. If no temporary file can be made,
    there are none."""

    def __init__(self) -> None:
        self._fd: int | None = None
        self._read_from = 0

    @contextmanager
    def at_a_path(self) -> Generator[str | None]:
        """A new empty file. Yields its path, which is removed when the block ends; None where no file can be made."""
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
        """The text since the last `forget`, 16 KiB at the most."""
        if self._fd is None:
            return ""
        return os.pread(self._fd, MOST_BYTES, self._read_from).decode(errors="replace")

    def forget(self) -> None:
        """Have `read` begin with what is written from now on."""
        if self._fd is not None:
            self._read_from = os.fstat(self._fd).st_size

    def close(self) -> None:
        """Close the file; safe when there is none."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)
