"""Whole programs: what concerns the process, and signals."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import PATIENCE

RUNS_A_PROGRAM = """
import asyncio, trio
from leasehold.concurrency import asyncio_border as border

async def run() -> bytes:
    program = await asyncio.create_subprocess_exec("/bin/echo", "hello", stdout=asyncio.subprocess.PIPE)
    return (await program.communicate())[0]

async def main() -> None:
    async with border.open_loop():
        with trio.fail_after(60):
            print(await border.cross(run))

trio.run(main)
"""

IS_INTERRUPTED = """
import asyncio, signal, sys, trio
from leasehold.concurrency import asyncio_border as border

async def work() -> None:
    try:
        {work}
    finally:
        await asyncio.sleep(0.001)
        print("cleaned up", flush=True)

async def main() -> None:
    async with border.open_loop():
        try:
            await border.cross(work)
        finally:
            print("left", flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background of a shell
try:
    trio.run(main)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
WAITS = 'print("begun", flush=True); await asyncio.Event().wait()'
WORKS = 'print("begun", flush=True)\n        while True: await asyncio.sleep(0)'

HEARS_SIGNALS = """
import asyncio, os, signal, trio
from leasehold.concurrency import asyncio_border as border

async def work() -> None:
    loop, heard = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, heard.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await heard.wait()
    print(loop.remove_signal_handler(signal.SIGUSR1), loop.remove_signal_handler(signal.SIGUSR1))
    loop.add_signal_handler(signal.SIGUSR2, heard.set)

async def main() -> None:
    before = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(before)
    async with border.open_loop():
        with trio.fail_after(60):
            await border.cross(work)
    after = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(after)
    print(before == after)

trio.run(main)
"""


def output(program: str) -> str:
    """What it prints; it has nothing to complain of."""
    command = [sys.executable, "-W", "always::ResourceWarning", "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE * 3)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_programs_are_started_and_waited_for() -> None:
    assert output(RUNS_A_PROGRAM) == "b'hello\\n'\n"


def test_signals_are_heard_and_what_python_does_with_them_stays_as_it_was() -> None:
    assert output(HEARS_SIGNALS) == "True False\nTrue\n"


@pytest.mark.parametrize("work", [WAITS, WORKS])
def test_ctrl_c_cancels_what_runs_under_asyncio_and_ends_the_program_in_good_order(work: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(IS_INTERRUPTED.format(work=work))
    with subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        running.send_signal(signal.SIGINT)
        rest, _ = running.communicate(timeout=PATIENCE)
    assert (running.returncode, rest) == (0, "cleaned up\nleft\ninterrupted\n")
