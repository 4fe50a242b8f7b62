"""One process that runs handlers, by trio-parallel: the only module that knows this library.

Each member has a context of trio-parallel of its own, so that we know which process runs what. It is imported where a kind runs in
a process.
"""

# trio-parallel carries no types; what it returns is typed where it leaves this module.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import logging
import os
import signal
from contextlib import nullcontext, suppress
from typing import Any

import msgspec
import trio

from leasehold.actors.attempts.progress import ProgressBuffer
from leasehold.actors.processes import child
from leasehold.actors.processes.deaths import ProcessDied
from leasehold.actors.processes.files import OutputFile, StackFile
from leasehold.actors.processes.wire import Reply, Setup
from leasehold.errors import BadInput
from leasehold.observability.logs import current_logging

log = logging.getLogger(__name__)

IDLE_SECONDS = 300.0
"""After this time without work a process ends and gives its memory back; the next job starts another one."""
START_SECONDS = 60.0
GRACE_SECONDS = 2.0
STACK_SECONDS = 2.0
LOOK_SECONDS = 0.02


try:
    import trio_parallel
except ImportError:
    trio_parallel = None


def check_installed() -> None:
    """Raises BadInput where trio-parallel is missing."""
    if trio_parallel is None:
        raise BadInput("runs='process' needs trio-parallel: pip install 'leasehold[process]'")


async def start_member() -> Member:
    """A new process, ready. Raises BadInput as `check_installed`, ProcessDied and trio.TooSlowError."""
    check_installed()
    assert trio_parallel is not None
    opened = trio_parallel.open_worker_context(idle_timeout=IDLE_SECONDS, grace_period=GRACE_SECONDS)
    member = Member(opened, await opened.__aenter__())
    try:
        await member.prepare()
    except BaseException:
        with trio.CancelScope(shield=True):
            await member.aclose()
        raise
    return member


class Member:
    """A process that is ready. It ends with this one, however this one ends. `pid` is that of the process that answered last."""

    def __init__(self, opened: Any, context: Any) -> None:
        self._opened = opened
        self._context = context
        self._stack_file = StackFile()
        self._output = OutputFile()
        self._requests = 0
        self.pid = 0

    async def prepare(self) -> None:
        """Set up a process that has just started. Raises ProcessDied, and trio.TooSlowError after a minute."""
        level, log_format = current_logging()
        with self._stack_file.at_a_path() as stacks, self._output.at_a_path() as output, trio.fail_after(START_SECONDS):
            try:
                self.pid = await self._run(
                    child.prepare, msgspec.msgpack.encode(Setup(level, log_format, stacks, output))
                )
            except ProcessDied as error:
                error.is_ready = False
                raise

    async def call(self, request: bytes) -> bytes:
        """Have a request answered. Cancelling kills the process and what it has started; then only `aclose` is left.

        Raises:
            ProcessDied: it ended before it answered.
        """
        self._output.empty()
        self._requests += 1
        reply: Reply | None = await self._run(child.respond, self._requests, request)
        while reply is None:  # the process before ended because it had no work
            await self.prepare()
            reply = await self._run(child.respond, self._requests, request)
        number, pid, answer = reply
        if (number, pid) != (self._requests, self.pid):
            self._kill_group()
            raise ProcessDied(pid=self.pid, why=f"process {pid} answered, and to request {number} of {self._requests}")
        return answer

    def read_output(self, buffer: ProgressBuffer) -> None:
        """Put what the handler has said since the last time into the buffer."""
        self._output.read_output(buffer)

    async def stack(self) -> str:
        """The stacks of all threads of the process; empty if it does not answer."""
        self._stack_file.forget()
        with suppress(ProcessLookupError), trio.move_on_after(STACK_SECONDS):
            os.kill(self.pid, child.STACK_SIGNAL)
            dumped, seen = "", ""
            while not dumped or dumped != seen:  # until nothing is added any more
                seen = dumped
                await trio.sleep(LOOK_SECONDS)
                dumped = self._stack_file.read()
        dumped = self._stack_file.read()
        self._stack_file.forget()
        return dumped

    async def aclose(self) -> None:
        """End the process, whatever state it is in."""
        assert trio_parallel is not None
        try:
            await self._opened.__aexit__(None, None, None)
        except trio_parallel.BrokenWorkerError as error:
            log.debug("process %s did not end in good order: %s", self.pid, error)
        finally:
            self._stack_file.close()
            self._output.close()

    async def _run(self, function: Any, *args: Any) -> Any:
        assert trio_parallel is not None
        try:
            return await self._context.run_sync(function, *args, kill_on_cancel=True, limiter=nullcontext())
        except trio_parallel.BrokenWorkerError as error:
            self._kill_group()
            process = error.args[-1]
            died = ProcessDied(pid=process.pid, exit_code=process.exitcode, stack=self._stack_file.read())
            raise died from None
        except BaseException:
            self._kill_group()
            raise

    def _kill_group(self) -> None:
        """Kill what the process has started. It has only just ended, so no other process has its pid yet."""
        if self.pid:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
