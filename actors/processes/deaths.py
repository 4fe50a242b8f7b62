"""How a process died under its handler, and what its job is told of it."""

from __future__ import annotations

import signal
from typing import Any

from leasehold.errors import LeaseholdError, ProcessCrashed, attach_report
from leasehold.jobs.kind import Kind


class ProcessDied(LeaseholdError):
    """The process ended under its handler.

    Attributes:
        is_ready: False where it ended before a handler began, so that no job is to blame.
        why: why the worker killed it; empty where it ended by itself.
    """

    is_ready = True

    def __init__(
        self,
        message: str | None = None,
        *,
        pid: int = 0,
        exit_code: int | None = None,
        stack: str = "",
        why: str = "",
    ) -> None:
        super().__init__(message)
        self.pid = pid
        self.exit_code = exit_code
        self.stack = stack
        self.why = why

    @property
    def how(self) -> str:
        """How it ended, as text: `was killed by SIGSEGV`, or `ended with exit code 3`."""
        if self.why:
            return f"was killed: {self.why}"
        if self.exit_code is None or self.exit_code >= 0:
            return f"ended with exit code {self.exit_code}"
        try:
            name = signal.Signals(-self.exit_code).name
        except ValueError:
            name = f"signal {-self.exit_code}"
        hint = " (so does the kernel when memory runs out)" if name == "SIGKILL" else ""
        return f"was killed by {name}{hint}"


def crashed(kind: Kind[..., Any], death: ProcessDied) -> ProcessCrashed:
    """The error of a job whose process died. It counts as a crash of the job only if its handler had begun."""
    place = f"{kind.function.__module__}.{kind.function.__qualname__}"
    report: dict[str, Any]
    if death.is_ready:
        message = f"process {death.pid} of handler {place} {death.how}"
        report = {"type": "ProcessCrashed", "message": message, "traceback": death.stack, "crash": True}
    else:
        message = f"process {death.pid} for handler {place} could not start: it {death.how}"
        report = {"type": "ProcessCrashed", "message": message, "traceback": death.stack}
    return attach_report(ProcessCrashed(message), report)
