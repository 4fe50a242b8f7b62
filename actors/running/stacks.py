"""Where a running handler is, as text: its trio tasks, its asyncio tasks, its thread."""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from collections.abc import Generator, Iterable
from itertools import dropwhile
from types import FrameType
from typing import Any

import trio

from leasehold.actors.attempts.held_job import HeldJob
from leasehold.concurrency.shared_loop import Contained
from leasehold.database.border import current_asyncio_loop
from leasehold.observability.context import running_job

OURS = (
    *("leasehold.actors", "leasehold.database", "leasehold.concurrency"),
    *("trio", "outcome", "threading", "asyncio"),
)
"""Modules whose frames at the top of a stack say nothing of the handler."""
Place = tuple[FrameType, int]


def stack_of(held: HeldJob, task: trio.lowlevel.Task) -> str:
    """The stacks of everything that the handler of this job runs, `task` being that of its slot.

    The asyncio tasks of this handler are known by the context that they inherit from it.
    """
    parts: list[str] = []
    if held.kind.runs == "asyncio":
        tasks = sorted(_asyncio_tasks(held), key=lambda task: task[0])
        parts += [_show(f"asyncio task {name}", _below_us(await_places(work.work))) for name, work in tasks]
    if held.kind.runs == "thread":
        parts += [_show(f"thread {name}", _below_us(places)) for name, places in _threads(task)]
    found = "\n".join(part for part in parts if part)
    return found or "\n".join([_show("trio task", _below_us(task.iter_await_frames())), *_children(task)])


def await_places(awaited: Any) -> Generator[Place]:
    """The frames of a suspended coroutine, outermost first."""
    while awaited is not None:
        frame, following = _suspended(awaited)
        if frame is not None:
            yield frame, frame.f_lineno
        awaited = following


def _suspended(awaited: Any) -> tuple[FrameType | None, Any]:
    for prefix, following in (("cr", "await"), ("gi", "yieldfrom"), ("ag", "await")):
        if hasattr(awaited, f"{prefix}_frame"):
            return getattr(awaited, f"{prefix}_frame"), getattr(awaited, f"{prefix}_{following}")
    return None, None


def _children(task: trio.lowlevel.Task) -> list[str]:
    found: list[str] = []
    for nursery in task.child_nurseries:
        for child in nursery.child_tasks:
            found += [_show(f"trio task {child.name}", child.iter_await_frames()), *_children(child)]
    return found


def _asyncio_tasks(held: HeldJob) -> Generator[tuple[str, Contained]]:
    loop = current_asyncio_loop()
    for task in asyncio.all_tasks(loop) if loop is not None else ():
        work = task.get_coro()
        if isinstance(work, Contained):
            running = work.context.get(running_job)
            if running is not None and running[0] is held.row:
                yield task.get_name(), work


def _threads(task: trio.lowlevel.Task) -> Iterable[tuple[str, Iterable[Place]]]:
    """Trio names the thread of a task after it."""
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]  the documented way
    for thread in threading.enumerate():
        if thread.name.endswith(f" from {task.name}") and thread.ident in frames:
            places = reversed(list(traceback.walk_stack(frames[thread.ident])))
            yield thread.name.removeprefix("None from "), places


def _below_us(places: Iterable[Place]) -> list[Place]:
    """The frames of the handler, without those of leasehold that called it; all frames where none would be left."""
    found = list(places)
    return list(dropwhile(lambda place: _is_ours(place[0]), found)) or found


def _is_ours(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return any(name == each or name.startswith(f"{each}.") for each in OURS)


def _show(title: str, places: Iterable[Place]) -> str:
    lines = traceback.StackSummary.extract(iter(list(places))).format()
    return f"{title}\n{''.join(lines)}" if lines else ""
