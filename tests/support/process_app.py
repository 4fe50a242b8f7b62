"""Handlers that run in processes and do there what none should: `--app tests.support.process_app:app`."""

from __future__ import annotations

import ctypes
import logging
import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from leasehold import App, Discard, Job, Reschedule, Retry, checkpoint
from leasehold.actors.processes.wire import Returned
from leasehold.sync import Client

MEBIBYTE = 1_048_576
log = logging.getLogger("leasehold.tests")

app = App()


class Picture(msgspec.Struct):
    """Args and an output that are not plain JSON types."""

    name: str
    wait: timedelta


class NoSuchPicture(Discard):
    """A discard with a name of its own."""


@app.kind(runs="process")
def pid() -> int:
    """Where it runs."""
    return os.getpid()


@app.kind(runs="process")
def resize(picture: Picture, factor: float = 2.0) -> Picture:
    """Typed args in, a typed output."""
    return Picture(picture.name, picture.wait * factor)


@app.kind(runs="process")
def about(job: Job, word: str) -> list[Any]:
    """What the handler knows about its job."""
    checkpoint()
    log.info("in a process", extra={"word": word})
    return [job.id, job.kind, job.attempt, job.worker_id, job.metadata, job.run_at, word]


@app.kind(runs="process")
def size_of(text: str) -> int:
    """Long args."""
    return len(text)


@app.kind(runs="process")
def answer(how: str) -> Any:
    """Outputs that cannot be kept."""
    return {"nan": float("nan"), "object": object(), "long": "x" * 2 * MEBIBYTE, "none": None}[how]


@app.kind(runs="process")
def fail(how: str) -> None:
    """All ways to raise."""
    raise {
        "plain": ValueError("no picture \x00 here"),
        "retry": Retry(7.5, "the disk is full"),
        "reschedule": Reschedule(timedelta(minutes=1), "not yet"),
        "reschedule at": Reschedule(at=datetime(2999, 1, 1, tzinfo=UTC), reason="not before then"),
        "discard": NoSuchPicture("gone"),
        "memory": MemoryError("by hand"),
        "exit": SystemExit(4),
    }[how]


@app.kind(runs="process")
def crash(how: str) -> None:
    """All ways to end without an answer."""
    match how:
        case "segfault":
            ctypes.string_at(0)
        case "exit":
            os._exit(3)
        case _:
            os.kill(os.getpid(), signal.SIGKILL)


@app.kind(runs="process")
def convert(n: int) -> str:
    """Fork for a program that is not there: the copy comes back out of the handler, too."""
    if n == 0 and os.fork() == 0:
        os.execv("/no/such/program", ["x"])
    return f"result of {n}"


@app.kind(runs="process")
def fork(by: str) -> int:
    """Return twice. C code forks behind Python's back."""
    return os.fork() if by == "python" else ctypes.CDLL(None).fork()


@app.kind(runs="process")
def leave_behind(how: str, place: str, ends: bool) -> None:
    """Start a copy or a program that goes on for long, in this process group; then crash, or wait to be killed."""
    if how == "program":
        pid = subprocess.Popen(["sleep", "600"], close_fds=False).pid
    elif (pid := os.fork()) == 0:
        time.sleep(600)
    Path(f"{place}.new").write_text(f"{os.getpid()} {pid}")
    Path(f"{place}.new").rename(place)
    if ends:
        os._exit(3)
    time.sleep(600)


@app.kind(runs="process")
def speak_twice(job: Job) -> None:
    """A copy says something, and then the process does."""
    if copy := os.fork():
        os.waitpid(copy, 0)
    job.log(f"this is {'the process' if copy else 'its copy'}")
    job.progress(1.0 if copy else 0.5)


@app.kind(runs="process", timeout=0.3)
def slow() -> None:
    """Longer than it may, and deaf."""
    time.sleep(600)


def hold_the_lock(place: str, sleeper: bool = False) -> None:
    """Write our pid to a file, and that of a program we start, then hold the interpreter lock for ever."""
    pids = [os.getpid()]
    if sleeper:
        pids.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid)
    path = Path(place)
    path.with_suffix(".new").write_text(" ".join(map(str, pids)))
    path.with_suffix(".new").rename(path)
    re.match(r"(a+)+$", "a" * 60 + "b")


@app.kind(runs="process")
def busy(place: str, sleeper: bool = False) -> None:
    """Never end."""
    hold_the_lock(place, sleeper)


@app.kind(runs="process")
def busy_first(job: Job, place: str) -> int:
    """The first attempt is `busy`."""
    if job.attempt == 1:
        hold_the_lock(place, sleeper=True)
    return job.attempt


@app.kind(runs="process")
def wait_for(place: str, then: str) -> str:
    """Tell that we run, by a file, and end when another one is there."""
    Path(place).touch()
    while not Path(then).exists():
        time.sleep(0.01)
    return "waited"


@app.kind(runs="process", memory_limit=256 * MEBIBYTE)
def hog(mebibytes: int, keep: bool = False) -> int:
    """Take memory, slowly enough to be noticed, and stay with it for a while."""
    taken = [bytearray(MEBIBYTE * 8) for _ in range(mebibytes // 8)]
    if mebibytes > 256:
        time.sleep(600)
    if keep:
        KEPT.extend(taken)
    return os.getpid()


KEPT: list[bytearray] = []


@app.kind(runs="process")
def go_on(job: Job, how: str) -> Any:
    """What ends a job other than an output, and what a process cannot do."""
    if how == "wait":
        raise job.wait_for([11, pid.new()], delay=2)
    if how == "state":
        job.state.get(str)
    if how == "start":
        job.start(pid.new())
    if how == "new":
        return pid.new()
    return job.continue_with(resize.new(Picture("a", timedelta(seconds=1))), blockers=[11])


@app.kind(runs="process", keep_logs="INFO")
def speak(job: Job, place: str = "", crash: bool = False) -> None:
    """Say how far it has come, wait until the file is there, and go on; or crash."""
    job.progress(0.25, "begun")
    job.progress(0.5, "half")
    job.log("first", "debug")
    logging.getLogger("app").warning("second")
    while place and not Path(place).exists():
        time.sleep(0.01)
    job.log("third")
    if crash:
        os.kill(os.getpid(), signal.SIGKILL)
    job.progress(1.0, "done")


@app.kind(runs="process")
def read_blockers_in_a_process(job: Job) -> list[int]:
    """In words that hold for a thread."""
    return job.blockers_sync(int)


@app.kind(runs="process")
def prepare_in_a_process(job: Job) -> None:
    """What a process cannot do: it has no transactions."""
    job.start(pid.new())
    with job.prepare():
        pass


def die_at_once(_setup: bytes) -> int:
    """In place of what makes a new process ready."""
    os._exit(9)


def answer_as_another(number: int, _request: bytes, *, others: tuple[int, int]) -> tuple[int, int, bytes]:
    """In place of what answers requests: the answer to another one, or of another process."""
    return number - others[0], os.getpid() + others[1], msgspec.msgpack.encode(Returned('"not yours"'))


@app.kind(runs="process")
def ask_absent_database(job: Job) -> int:
    """The first attempt finds no database where it looks for one."""
    if job.attempt == 1:
        with Client("postgresql://127.0.0.1:1/nothing", timeout=0.5) as client:
            client.enqueue("mail")
    return job.attempt
