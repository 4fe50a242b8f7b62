"""A few child processes kept running: their lines prefixed, each started again when it dies, all drained by a signal.

The first SIGINT, SIGTERM or SIGHUP asks every child to stop (SIGTERM) and starts none again. The second is passed on, too, upon
which actors hand back what they run; the third kills. A child that ends by wrong usage or a wrong schema would only do
so again: then all are stopped and its code is ours. So is one that died too often in a row.

`restart` ends children in the same way and starts them again at once. Where that can happen, a child that cannot run waits for
it: its code is being written.
"""

from __future__ import annotations

import random
import re
import signal
import subprocess
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec
import trio

from leasehold.cli.runtime.exit_codes import ExitCode
from leasehold.concurrency.ending import stop_signals

if TYPE_CHECKING:
    from leasehold.cli.runtime.terminal import Terminal


COLOURS = (36, 32, 33, 35, 34, 96, 92, 93, 95, 94)
RESET = "\x1b[0m"
OURSELVES = "up"
LONGEST_NAME = 10
SEVERITIES: Mapping[str, int] = {"WARNING": 33, "ERROR": 31, "CRITICAL": 31}
SEVERITY = re.compile(rf"^(?:[\d:.]+ )?({'|'.join(SEVERITIES)})\b")


def line_writer(terminal: Terminal, names: Sequence[str], *, as_text: bool) -> ShowLine:
    """Writes lines to standard output: after the name of their process, or as JSON where they are not JSON already.

    `names` are all that will be, in an order that decides their colours: the same at each start.
    """
    has_colour = terminal.has_colour(terminal.stdout)
    # A terminal shows ^C where we are about to write.
    fresh_line = "\r" if terminal.stdout.isatty() else ""
    colours = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(names)}
    width = max([LONGEST_NAME, *map(len, names)])

    def as_shown(name: str, line: str, level: Level) -> str:
        prefix = f"{name:<{width}} │ "
        if level != "info":
            line = f"{level.upper()} {line}"
        if has_colour:
            prefix = f"\x1b[{colours.get(name, 1)}m{prefix}{RESET}"
            if found := SEVERITY.match(line):
                line = f"\x1b[{SEVERITIES[found[1]]}m{line}{RESET}"
        return (fresh_line if name == OURSELVES else "") + prefix + line

    def as_json(name: str, line: str, level: Level) -> str:
        if line.startswith("{"):
            return line
        fields = {"at": terminal.now(), "level": level, "logger": "leasehold.up", "process": name, "message": line}
        return msgspec.json.encode(fields).decode()

    def show(name: str, line: str, level: Level = "info", /) -> None:
        # The reader of our lines may be gone (`| tee` after Ctrl-C, a closed terminal); the processes still want to be drained.
        with suppress(OSError):
            terminal.stdout.write((as_shown if as_text else as_json)(name, line, level) + "\n")
            terminal.stdout.flush()

    return show


HOPELESS = frozenset({ExitCode.USAGE, ExitCode.SCHEMA_MISMATCH})
# How a child ends that was told to: drained, or before it had anything to drain.
ORDERLY = frozenset({ExitCode.DONE, ExitCode.TERMINATED, -signal.SIGTERM})
FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
# A child that lived this long starts the back-off anew.
STABLE_SECONDS = 30.0
# About a minute of trying, by the back-off above.
MOST_DEATHS = 8
LONGEST_LINE = 1 << 20
LAST_OUTPUT_SECONDS = 1.0
# How long running jobs may go on in a child that is to be started again; then they are handed back.
RELOAD_SECONDS = 3.0


class Child(msgspec.Struct, frozen=True, kw_only=True):
    """A process to keep running."""

    name: str
    command: Sequence[str]
    environ: Mapping[str, str]


Level = Literal["info", "warning", "error"]


class ShowLine(Protocol):
    """Called with a child's name and one line of its output, or with ours, which have a level."""

    def __call__(self, name: str, line: str, level: Level = "info", /) -> None: ...


def restart_delay(deaths: int, jitter: float) -> float:
    """Seconds before the next start after this number of deaths in a row; `jitter` from 0 to 1 spreads it."""
    longest = min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(deaths - 1, 16))
    return longest * (0.5 + jitter / 2)


def jittered_delay(deaths: int) -> float:
    """`restart_delay` with a jitter drawn now."""
    return restart_delay(deaths, random.random())


class Supervisor:
    """Runs children until a signal or a hopeless child. `run` may be called once."""

    def __init__(
        self,
        children: Sequence[Child],
        show: ShowLine,
        delay: Callable[[int], float] = jittered_delay,
        *,
        reloads: bool = False,
    ) -> None:
        self._children = children
        self._reloads = reloads
        self._restarted = {child.name: trio.Event() for child in children}
        self._show = show
        self._delay = delay
        self._running: dict[str, trio.Process] = {}
        self._stopping = trio.Event()
        self._exit_code = ExitCode.DONE

    async def run(self, *beside: Callable[[], Awaitable[None]]) -> int:
        """Returns 0 after an orderly stop, 130 where it was Ctrl-C that began it, else the code that says what went wrong.

        `beside` run next to the children from when signals are obeyed, and are cancelled when they are gone.
        """
        async with trio.open_nursery() as nursery:
            await nursery.start(self._obey_signals)
            for each in beside:
                nursery.start_soon(each)
            async with trio.open_nursery() as children:
                for child in self._children:
                    children.start_soon(self._keep_running, child)
            nursery.cancel_scope.cancel()
        return self._exit_code

    def stop(self) -> None:
        """Ask every child to stop and start none again."""
        self._stopping.set()  # may be called again, which tells the children once more
        for restarted in self._restarted.values():
            restarted.set()
        for process in self._running.values():
            process.terminate()

    async def restart(self, names: Collection[str]) -> None:
        """Have these children end and start again; returns once they have ended. Jobs that run for long are handed back."""
        for name in names:
            self._restarted[name].set()
        ending = [process for name, process in self._running.items() if name in names]
        async with trio.open_nursery() as nursery:
            for process in ending:
                nursery.start_soon(_end_soon, process)

    def pid_of(self, name: str) -> int | None:
        """The process id of a child; None while it does not run."""
        process = self._running.get(name)
        return None if process is None else process.pid

    def kill(self, name: str) -> None:
        """End a child at once, as if it had died."""
        if process := self._running.get(name):
            process.kill()

    def give_up(self, what: str, deaths: int) -> None:
        """Stop all with an error, for what has happened too many times in a row."""
        self._show("up", f"{what}, {deaths} times in a row; giving up and stopping all", "error")
        self._exit_code = ExitCode.FAILED
        self.stop()

    async def _obey_signals(self, task_status: trio.TaskStatus[None]) -> None:
        with trio.open_signal_receiver(*stop_signals()) as signals:
            task_status.started()
            if await anext(signals) == signal.SIGINT:
                self._exit_code = ExitCode.INTERRUPTED
            self._show("up", "stopping: running jobs may finish; a second signal hands them back")
            self.stop()
            await anext(signals)
            self._show("up", "ending what still runs; a third signal kills it")
            self.stop()
            await anext(signals)
            self._exit_code = ExitCode.FAILED
            for process in self._running.values():
                process.kill()

    async def _keep_running(self, child: Child) -> None:
        deaths = 0
        while not self._stopping.is_set():
            started = trio.current_time()
            code = await self._run_once(child)
            if self._stopping.is_set():
                self._note_last(code)
            elif self._restarted[child.name].is_set():
                deaths = 0
            elif code in HOPELESS and self._reloads:
                self._show(
                    "up",
                    f"{child.name} cannot run (exit code {code}); it is started again when a file changes",
                    "error",
                )
                await self._restarted[child.name].wait()
            elif code in HOPELESS:
                self._show("up", f"{child.name} cannot run (exit code {code}); stopping all", "error")
                self._exit_code = ExitCode(code)
                self.stop()
            else:
                deaths = 1 if trio.current_time() - started > STABLE_SECONDS else deaths + 1
                if deaths < MOST_DEATHS:
                    await self._wait_before_restart(child, code, self._delay(deaths))
                else:
                    self.give_up(f"{child.name} {_how_it_ended(code)}", deaths)

    def _note_last(self, code: int) -> None:
        if code not in ORDERLY and self._exit_code is ExitCode.DONE:
            self._exit_code = ExitCode.FAILED

    async def _wait_before_restart(self, child: Child, code: int, seconds: float) -> None:
        level: Level = "warning" if code else "info"  # somebody told it alone to end
        self._show("up", f"{child.name} {_how_it_ended(code)}; starting it again in {seconds:.1f} s", level)
        with trio.move_on_after(seconds):
            await self._restarted[child.name].wait()

    async def _run_once(self, child: Child) -> int:
        restarted = self._restarted[child.name] = trio.Event()
        process = await _start(child)
        self._running[child.name] = process
        if self._stopping.is_set() or restarted.is_set():
            process.terminate()
        try:
            assert process.stdout is not None
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._copy_lines, child.name, process.stdout)
                code = await process.wait()
                # Its own children may hold the pipe open for longer than we care to listen.
                nursery.cancel_scope.deadline = trio.current_time() + LAST_OUTPUT_SECONDS
            return code
        finally:
            del self._running[child.name]
            with trio.CancelScope(shield=True):
                await _end(process)

    async def _copy_lines(self, name: str, stream: trio.abc.ReceiveStream) -> None:
        rest = b""
        async for chunk in stream:
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) > LONGEST_LINE:
                lines, rest = [*lines, rest], b""
            for line in lines:
                self._show(name, line.decode(errors="backslashreplace"))
        if rest:
            self._show(name, rest.decode(errors="backslashreplace"))


async def _end_soon(process: trio.Process) -> None:
    """One SIGTERM, which drains it, and a second one where that takes too long."""
    process.terminate()
    with trio.move_on_after(RELOAD_SECONDS):
        await process.wait()
        return
    process.terminate()
    await process.wait()


def _how_it_ended(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


async def _start(child: Child) -> trio.Process:
    # A session of its own: Ctrl-C reaches us alone. An open standard input: it ends with us, however we end.
    return await trio.lowlevel.open_process(
        list(child.command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(child.environ),
        start_new_session=True,
    )


async def _end(process: trio.Process) -> None:
    if process.poll() is None:
        process.kill()
        await process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            await stream.aclose()
