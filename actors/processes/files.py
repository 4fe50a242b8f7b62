"""Files without names between a worker and its processes: what handlers say of themselves, and the stack of a crash."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from struct import Struct
from zlib import crc32

import msgspec

from leasehold.actors.attempts.progress import (
    LONGEST_LINE,
    LONGEST_MESSAGE,
    MOST_OF_A_JOB,
    ProgressBuffer,
    ProgressReport,
)

MOST_BYTES = 16_384
HEAD = Struct("<II")  # length and checksum: what is half written is not read
LINES_FROM = 8_192


class UnnamedFile:
    """A file that both sides have open, and that has a path only while they open it: none is left behind."""

    prefix = "leasehold-"

    def __init__(self) -> None:
        self._fd: int | None = None

    @contextmanager
    def at_a_path(self) -> Generator[str | None]:
        """A new empty file. Yields its path, which is removed when the block ends; None where no file can be made."""
        self.close()
        try:
            self._fd, path = tempfile.mkstemp(prefix=self.prefix)
        except OSError:
            yield None
            return
        try:
            yield path
        finally:
            os.unlink(path)

    def close(self) -> None:
        """Close the file; safe when there is none."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)


class StackFile(UnnamedFile):
    """Keeps the stacks that processes write when they crash, and when they are asked. If no temporary file can be made,
    there are none."""

    prefix = "leasehold-stack-"
    _read_from = 0

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
        """Close the file; `read` begins with the first byte of the next one."""
        super().close()
        self._read_from = 0


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
        self._write(ProgressReport(job_id, attempt, None if fraction is None else float(fraction), text), 0)

    def line(self, job_id: int, attempt: int, level: str, message: str) -> None:
        """A line for the log of a job. Lines beyond the number that a job may keep are not written."""
        with self._lock:
            self._lines += 1
            if self._lines <= MOST_OF_A_JOB:
                self._end += self._write(ReportedLine(job_id, attempt, level, message[:LONGEST_LINE]), self._end)

    def _write(self, entry: ProgressReport | ReportedLine, place: int) -> int:
        if self._fd is None:
            return 0
        encoded = msgspec.msgpack.encode(entry)
        return os.pwrite(self._fd, HEAD.pack(len(encoded), crc32(encoded)) + encoded, place)


class OutputFile(UnnamedFile):
    """The worker's end of the file. If no temporary file can be made, the output is lost."""

    prefix = "leasehold-output-"

    def __init__(self) -> None:
        super().__init__()
        self._end = LINES_FROM
        self._last: ProgressReport | None = None

    def empty(self) -> None:
        """Empty the file: another job begins."""
        self._end = LINES_FROM
        self._last = None
        if self._fd is not None:
            os.ftruncate(self._fd, 0)

    def read_output(self, buffer: ProgressBuffer) -> None:
        """Put what was said since the last time into the buffer."""
        report = self._read(0)[0]
        if isinstance(report, ProgressReport) and report != self._last:
            self._last = report
            buffer.progress(report.job_id, report.attempt, report.fraction, report.message)
        line, end = self._read(self._end)
        while isinstance(line, ReportedLine):
            buffer.line(line.job_id, line.attempt, line.level, line.message)
            self._end = end
            line, end = self._read(end)

    def _read(self, place: int) -> tuple[ProgressReport | ReportedLine | None, int]:
        if self._fd is None:
            return None, place
        head = os.pread(self._fd, HEAD.size, place)
        if len(head) < HEAD.size:
            return None, place
        length, checksum = HEAD.unpack(head)
        encoded = os.pread(self._fd, length, place + HEAD.size)
        if not length or len(encoded) < length or crc32(encoded) != checksum:
            return None, place
        return msgspec.msgpack.decode(encoded, type=ProgressReport | ReportedLine), place + HEAD.size + length
