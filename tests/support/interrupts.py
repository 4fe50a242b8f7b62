"""One signal at a random moment of a command, and what is left of it: how it ended, how fast, what it left behind.

The signals are SIGINT and SIGTERM in turn. The moments are drawn from a seed, between the first line of ours (from when SIGTERM
is caught; what comes before is the start of the interpreter) and a little after the end that the command has when nobody
interrupts it.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import psutil

from tests.support.processes import clean_environment
from tests.support.waiting import PATIENCE

MARK = "INTERRUPTED_ROUND"
MOST_SECONDS = 3.0  # of the long form; a machine that runs tests may be too busy for it
IS_LONG = "LEASEHOLD_INTERRUPTS" in os.environ
LOOK_SECONDS = 0.005
SIGNALS = (signal.SIGINT, signal.SIGTERM)
EXPECTED = {signal.SIGINT: 130, signal.SIGTERM: 143}
BAD_WORDS = ("Traceback", "EndRefused", "Fatal Python error", "never awaited", "Exception ignored")


class Command(NamedTuple):
    """A command to interrupt.

    Attributes:
        words: after `leasehold`.
        environ: over an environment without settings of ours.
        until: a line after which it goes on for ever, or for long; None: it ends by itself.
        after_term: codes with which it may end after SIGTERM, too.
    """

    words: Sequence[str]
    environ: Mapping[str, str]
    until: str | None = None
    after_term: Sequence[int] = ()

    def __str__(self) -> str:
        return f"leasehold {' '.join(self.words)}"


class Interrupted(NamedTuple):
    """How one round ended.

    Attributes:
        command: that was interrupted.
        number: of the signal.
        moment: seconds after the first line at which the signal was sent.
        code: as a shell has it, for which a process that this very signal has killed ended with 130 or 143, too.
        seconds: from the signal to the end. None: it had ended before.
        was_over: it had ended before the signal, or had done everything when that came and ended as if without it.
        left: processes of it that outlived it.
        said: on both streams.
    """

    command: Command
    number: signal.Signals
    moment: float
    code: int
    seconds: float | None
    was_over: bool
    left: list[str]
    said: str

    @property
    def fault(self) -> str | None:
        """What is wrong with it, in words; None: nothing."""
        if found := [word for word in BAD_WORDS if word in self.said]:
            return f"said {found[0]}"
        if self.left:
            return f"left {', '.join(self.left)}"
        if self.was_over:
            return None if self.code == 0 else f"ended with {self.code} before it was interrupted"
        also = self.command.after_term if self.number == signal.SIGTERM else ()
        if self.code not in {EXPECTED[self.number], *also}:
            return f"ended with {self.code}"
        return f"took more than {MOST_SECONDS:g} s" if IS_LONG and (self.seconds or 0) > MOST_SECONDS else None


def interrupt(command: Command, moment: float, number: signal.Signals, folder: Path) -> Interrupted:
    """Run it and send it one signal at that moment."""
    mark = uuid4().hex
    with (folder / "said").open("w+b") as said:
        process = _start(command, mark, folder, said.fileno())
        _await_first_line(process)
        _sleep_until(time.monotonic() + moment, process)
        seconds = None
        if process.poll() is None:
            sent = time.monotonic()
            process.send_signal(number)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            seconds = time.monotonic() - sent
        left = _end_all(mark)
        said.seek(0)
        code = 128 + number if process.returncode == -number else process.returncode
        was_over = seconds is None or (command.until is None and code == 0)
        return Interrupted(command, number, moment, code, seconds, was_over, left, said.read().decode(errors="replace"))


def span_of(command: Command, folder: Path) -> float:
    """Seconds from the first line to the end, or to the line after which it goes on for ever and a bit more."""
    mark = uuid4().hex
    with (folder / "said").open("w+b") as said:
        process = _start(command, mark, folder, said.fileno())
        _await_first_line(process)
        began = time.monotonic()
        while process.poll() is None and time.monotonic() - began < PATIENCE:
            if command.until is not None and command.until.encode() in (folder / "said").read_bytes():
                break
            time.sleep(LOOK_SECONDS)
        span = time.monotonic() - began
        if process.poll() is None:
            process.terminate()
        process.wait(PATIENCE)
        _end_all(mark)
        return span


Play = Callable[[float, signal.Signals], Interrupted]


def interrupted_rounds(span: float, rounds: int, seed: int, play: Play) -> list[Interrupted]:
    """Play at random moments of a command that takes so long, until so many rounds were not over before the signal.

    A machine that is faster than when the span was measured ends many rounds too early; four times as many is the most.
    """
    chance = random.Random(seed)
    done: list[Interrupted] = []
    interrupted = 0
    for _ in range(4 * rounds):
        done.append(play(chance.uniform(0, span * 1.05), SIGNALS[interrupted % 2]))
        interrupted += not done[-1].was_over
        if interrupted == rounds:
            break
    assert interrupted, f"each of {len(done)} rounds was over before it was interrupted"
    return done


def tell(rounds: Sequence[Interrupted]) -> str:
    """Counts of what happened, and the slowest end."""
    faults = Counter(each.fault or _ordinary(each) for each in rounds)
    slowest = max((each.seconds or 0.0 for each in rounds), default=0.0)
    return "; ".join(f"{count} {what}" for what, count in faults.most_common()) + f"; slowest {slowest:.2f} s"


def _ordinary(each: Interrupted) -> str:
    return "was over" if each.was_over else f"ended with {each.code} after {each.number.name}"


def _start(command: Command, mark: str, folder: Path, said: int) -> subprocess.Popen[bytes]:
    environ = {**clean_environment(command.environ), "TMPDIR": str(folder), MARK: mark}
    words = [sys.executable, "-m", "leasehold", *command.words]
    return subprocess.Popen(
        words, env=environ, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
    )


def _await_first_line(process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None and not _catches(process.pid, signal.SIGTERM):
        time.sleep(LOOK_SECONDS)


def _catches(pid: int, number: signal.Signals) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    line = next((line for line in status.splitlines() if line.startswith("SigCgt:")), "SigCgt: 0")
    return bool(int(line.split()[1], 16) >> (number - 1) & 1)


def _sleep_until(moment: float, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None and (left := moment - time.monotonic()) > 0:
        time.sleep(min(left, 0.05))


def _end_all(mark: str) -> list[str]:
    """Kill what still runs of a round; returns what that was. A process that is about to end has the time for it."""
    left = _marked(mark)
    until = time.monotonic() + PATIENCE
    while left and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
        left = [each for each in left if _read(each.status) not in {None, psutil.STATUS_ZOMBIE}]
    names: list[str] = []
    for each in left:
        try:
            names.append(" ".join(each.cmdline()[:4]))
            each.kill()
        except psutil.Error:
            continue
    return names


def _marked(mark: str) -> list[psutil.Process]:
    return [each for each in psutil.process_iter() if _read(lambda each=each: each.environ().get(MARK)) == mark]


def _read(look: Callable[[], str | None]) -> str | None:
    try:
        return look()
    except psutil.Error:
        return None
