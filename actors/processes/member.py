"""One process that runs handlers: the interface between our pool and the library that starts it."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from typing import Protocol

from leasehold.actors.progress.buffer import ProgressBuffer
from leasehold.errors import LeaseholdError


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


class Member(Protocol):
    """A process that is ready. It ends with this one, however this one ends."""

    @property
    def pid(self) -> int:
        """The pid of the process that answered last."""
        ...

    async def call(self, request: bytes) -> bytes:
        """Have a request answered. Cancelling kills the process and what it has started; then only `aclose` is left.

        Raises:
            ProcessDied: it ended before it answered.
        """
        ...

    def hear(self, buffer: ProgressBuffer) -> None:
        """Put what the handler has said since the last time into the buffer."""
        ...

    async def stack(self) -> str:
        """The stacks of all threads of the process; empty if it does not answer."""
        ...

    async def aclose(self) -> None:
        """End the process, whatever state it is in."""
        ...


Start = Callable[[], Awaitable[Member]]
