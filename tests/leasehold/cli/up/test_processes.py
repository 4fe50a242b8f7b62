from __future__ import annotations

import os
import signal
import sys

import pytest
import trio

from leasehold.cli.runtime.exit_codes import ExitCode
from leasehold.cli.up.processes import MOST_DEATHS, Child, Level, Supervisor, restart_delay
from tests.support.waiting import PATIENCE

GREET_AND_WAIT = (
    "import signal, sys; signal.signal(15, lambda *_: sys.exit(0)); print('ready', flush=True); signal.pause()"
)
STUBBORN = "import signal; signal.signal(15, signal.SIG_IGN); print('ready', flush=True)\nwhile True: signal.pause()"


class Screen:
    """Keeps shown lines; a test can wait for one."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.levels: dict[str, Level] = {}
        self._changed = trio.Event()

    def show(self, name: str, line: str, level: Level = "info", /) -> None:
        self.lines.append((name, line))
        self.levels[line] = level
        self._changed.set()
        self._changed = trio.Event()

    async def until(self, name: str, text: str, count: int = 1) -> None:
        with trio.fail_after(PATIENCE):
            while sum(name == shown and text in line for shown, line in self.lines) < count:
                await self._changed.wait()


def child(name: str, script: str) -> Child:
    return Child(name=name, command=[sys.executable, "-u", "-c", script], environ=dict(os.environ))


def supervisor(screen: Screen, *children: Child) -> Supervisor:
    return Supervisor(children, screen.show, delay=lambda _deaths: 0.0)


async def test_lines_are_shown_with_the_name_of_their_process() -> None:
    screen = Screen()
    supervised = supervisor(screen, child("a", "print('one'); print('two', end='')\n" + GREET_AND_WAIT))

    async def stop() -> None:
        await screen.until("a", "ready")
        supervised.stop()

    assert await supervised.run(stop) == 0
    assert screen.lines[:2] == [("a", "one"), ("a", "twoready")]


async def test_a_child_that_dies_is_started_again() -> None:
    screen = Screen()
    supervised = supervisor(screen, child("a", "import os, signal; print('here', flush=True); os.kill(os.getpid(), 9)"))

    async def stop() -> None:
        await screen.until("a", "here", count=3)
        supervised.stop()

    await supervised.run(stop)
    assert ("up", "a was ended by SIGKILL; starting it again in 0.0 s") in screen.lines
    assert screen.levels["a was ended by SIGKILL; starting it again in 0.0 s"] == "warning"


async def test_an_end_in_good_order_is_no_warning() -> None:
    screen = Screen()
    supervised = supervisor(screen, child("a", "print('here', flush=True)"))

    async def stop() -> None:
        await screen.until("a", "here", count=2)
        supervised.stop()

    await supervised.run(stop)
    assert screen.levels["a ended with exit code 0; starting it again in 0.0 s"] == "info"


@pytest.mark.parametrize("code", [ExitCode.USAGE, ExitCode.SCHEMA_MISMATCH])
async def test_a_child_that_can_never_run_stops_all(code: ExitCode) -> None:
    screen = Screen()
    hopeless = child("b", f"import sys; print('no', flush=True); sys.exit({code.value})")
    assert await supervisor(screen, child("a", GREET_AND_WAIT), hopeless).run() == code
    assert screen.levels[f"b cannot run (exit code {code.value}); stopping all"] == "error"


async def test_a_child_that_dies_again_and_again_is_given_up_and_all_stop() -> None:
    screen = Screen()
    hopeless = child("b", "import sys; sys.exit(1)")
    assert await supervisor(screen, child("a", GREET_AND_WAIT), hopeless).run() == ExitCode.FAILED
    lines = [line for name, line in screen.lines if name == "up"]
    assert len(lines) == MOST_DEATHS
    assert lines[-1] == f"b ended with exit code 1, {MOST_DEATHS} times in a row; giving up and stopping all"
    assert screen.levels[lines[-1]] == "error"


async def test_one_signal_stops_all_in_good_order() -> None:
    screen = Screen()
    supervised = supervisor(screen, child("a", GREET_AND_WAIT), child("b", GREET_AND_WAIT))

    async def interrupt() -> None:
        await screen.until("a", "ready")
        await screen.until("b", "ready")
        signal.raise_signal(signal.SIGINT)

    assert await supervised.run(interrupt) == 130


async def test_the_third_signal_kills_what_does_not_listen() -> None:
    screen = Screen()
    supervised = supervisor(screen, child("a", STUBBORN))

    async def interrupt() -> None:
        await screen.until("a", "ready")
        signal.raise_signal(signal.SIGTERM)
        await screen.until("up", "stopping")
        signal.raise_signal(signal.SIGTERM)
        await screen.until("up", "third signal")
        signal.raise_signal(signal.SIGTERM)

    assert await supervised.run(interrupt) == 1


async def test_a_child_whose_own_child_keeps_the_pipe_open_is_still_seen_to_end() -> None:
    screen = Screen()
    script = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import sys; sys.stdin.read()']); sys.exit(2)"
    )
    assert await supervisor(screen, child("a", script)).run() == ExitCode.USAGE


async def test_a_line_without_end_is_shown_in_pieces() -> None:
    screen = Screen()
    supervised = supervisor(screen, child("a", "print('x' * 3_000_000, end=''); " + GREET_AND_WAIT))

    async def stop() -> None:
        await screen.until("a", "ready")
        supervised.stop()

    await supervised.run(stop)
    assert sum(len(line) for name, line in screen.lines if name == "a") == 3_000_000 + len("ready")
    assert len([line for name, line in screen.lines if name == "a"]) > 1


@pytest.mark.parametrize(("deaths", "longest"), [(1, 0.5), (2, 1), (3, 2), (7, 30), (1000, 30)])
def test_the_delay_doubles_up_to_half_a_minute_and_is_spread(deaths: int, longest: float) -> None:
    assert restart_delay(deaths, 1) == longest
    assert restart_delay(deaths, 0) == longest / 2
