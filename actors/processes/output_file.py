"""What handlers in a process say of themselves: progress and log lines, through a file without a name.

It is a file and no pipe: a handler never waits for the worker, and its output is kept however the process ends. The
latest progress is at the beginning of the file and is overwritten; lines follow. The file holds one job at a time.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from struct import Struct
from zlib import crc32

import msgspec

from leasehold.actors.progress.buffer import LONGEST_LINE, LONGEST_MESSAGE, MOST_OF_A_JOB, ProgressBuffer

HEAD = Struct("<II")  # length and checksum: what is half written is not read
LINES_FROM = 8_192


class ReportedProgress(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """How far an attempt has come."""

    job_id: int
    attempt: int
    fraction: float | None
    message: str | None


class ReportedLine(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A line for the log of a job."""

    job_id: int
    attempt: int
    level: str
    message: str


class OutputFileWriter:
    """Where a job in a process puts its progress and log lines. Without a file they are dropped."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd
        self._lock = threading.Lock()
        self._end = LINES_FROM
        self._lines = 0

    def progress(self, job_id: int, attempt: int, fraction: float | None, message: str | None = None) -> None:
        """How far an attempt has come."""
        text = None if message is None else str(message)[:LONGEST_MESSAGE]
        self._write(ReportedProgress(job_id, attempt, None if fraction is None else float(fraction), text), 0)

    def line(self, job_id: int, attempt: int, level: str, message: str) -> None:
        """A line for the log of a job. Lines beyond the number that a job may keep are not written."""
        with self._lock:
            self._lines += 1
            if self._lines <= MOST_OF_A_JOB:
                self._end += self._write(ReportedLine(job_id, attempt, level, message[:LONGEST_LINE]), self._end)

    def _write(self, said: ReportedProgress | ReportedLine, place: int) -> int:
        if self._fd is None:
            return 0
        encoded = msgspec.msgpack.encode(said)
        return os.pwrite(self._fd, HEAD.pack(len(encoded), crc32(encoded)) + encoded, place)


class OutputFile:
    """The worker's end of the file. If no temporary file can be made, the output is lost."""

    def __init__(self) -> None:
        self._fd: int | None = None
        self._end = LINES_FROM
        self._word: ReportedProgress | None = None

    @contextmanager
    def at_a_path(self) -> Generator[str | None]:
        """A new empty file. Yields its path, which is removed when the block ends; None where no file can be made."""
        self.close()
        try:
            self._fd, path = tempfile.mkstemp(prefix="leasehold-words-")
        except OSError:
            yield None
            return
        try:
            yield path
        finally:
            os.unlink(path)

    def empty(self) -> None:
        """Empty the file: another job begins."""
        self._end = LINES_FROM
        self._word = None
        if self._fd is not None:
            os.ftruncate(self._fd, 0)

    def hear(self, buffer: ProgressBuffer) -> None:
        """Put what was said since the last time into the buffer."""
        word = self._read(0)[0]
        if isinstance(word, ReportedProgress) and word != self._word:
            self._word = word
            buffer.progress(word.job_id, word.attempt, word.fraction, word.message)
        line, end = self._read(self._end)
        while isinstance(line, ReportedLine):
            buffer.line(line.job_id, line.attempt, line.level, line.message)
            self._end = end
            line, end = self._read(end)

    def _read(self, place: int) -> tuple[ReportedProgress | ReportedLine | None, int]:
        if self._fd is None:
            return None, place
        head = os.pread(self._fd, HEAD.size, place)
        if len(head) < HEAD.size:
            return None, place
        length, checksum = HEAD.unpack(head)
        encoded = os.pread(self._fd, length, place + HEAD.size)
        if not length or len(encoded) < length or crc32(encoded) != checksum:
            return None, place
        return msgspec.msgpack.decode(encoded, type=ReportedProgress | ReportedLine), place + HEAD.size + length

    def close(self) -> None:
        """Close the file; safe when there is none."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)
