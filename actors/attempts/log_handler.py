"""Copies what handlers log with `logging` into the logs of their jobs, for kinds that ask for it with `keep_logs`."""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from leasehold.app import App
from leasehold.jobs.job_host import ProgressSink
from leasehold.observability.context import running_job
from leasehold.observability.logs import redact_dsns

OWN_LOGGERS = "leasehold."
NAMES = ((50, "critical"), (40, "error"), (30, "warning"), (20, "info"))


class LogKeeper(logging.Handler):
    """Copies records into the logs of jobs, but not those of leasehold itself. The root logger has it."""

    def __init__(self, buffer: ProgressSink, worker_id: str, levels: Mapping[str, int]) -> None:
        super().__init__(min(levels.values()))
        self._buffer = buffer
        self._worker_id = worker_id
        self._levels = levels

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record, if it comes from a handler of this worker whose kind wants it."""
        running = running_job.get()
        if running is None or running[1] != self._worker_id or record.name.startswith(OWN_LOGGERS):
            return
        row = running[0]
        if record.levelno < self._levels.get(row["kind"], logging.CRITICAL + 1):
            return
        try:
            self._buffer.line(
                row["job_id"], row["attempt"], level_name(record.levelno), redact_dsns(self.format(record))
            )
        except Exception:
            self.handleError(record)


def level_name(number: int) -> str:
    """Our name for a level number of `logging`."""
    return next((name for least, name in NAMES if number >= least), "debug")


@contextmanager
def keeping_logs(buffer: ProgressSink, worker_id: str, app: App) -> Generator[None]:
    """Keep logs while the block lasts, if any kind of the app wants it."""
    levels = {kind.name: kind.options.keep_logs for kind in app if kind.options.keep_logs is not None}
    with keeping_levels(buffer, worker_id, levels):
        yield


@contextmanager
def keeping_levels(buffer: ProgressSink, worker_id: str, levels: Mapping[str, str]) -> Generator[None]:
    """Keep logs of these kinds from these levels on while the block lasts."""
    if not levels:
        yield
        return
    numbers = {kind: logging.getLevelNamesMapping()[level.upper()] for kind, level in levels.items()}
    keeper = LogKeeper(buffer, worker_id, numbers)
    logging.getLogger().addHandler(keeper)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(keeper)
