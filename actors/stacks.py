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

from leasehold.actors.held import Held
from leasehold.job_context import running_job

OURS = ("leasehold.actors", "leasehold.database", "trio", "trio_asyncio", "threading", "asyncio")
"""Modules whose frames at the top of a stack say nothing of the handler."""
Place = tuple[FrameType, int]


def stack_of(held: Held, task: trio.lowlevel.Task) -> str:
    """The stacks of everything that the handler of this job runs, `task` being that of its slot.

    Asyncio tasks and threads that it has started of itself are told apart by the context they inherit; before Python 3.12,
    which does not show the context of an asyncio task, those of all jobs are shown.
    """
    parts = [_show("trio task", _below_us(task.iter_await_frames())), *_children(task)]
    if held.kind.runs == "asyncio":
        parts += [_show(f"asyncio task {each.get_name()}", await_places(each.get_coro())) for each in _asyncio_tasks(held)]
    if held.kind.runs == "thread":
        parts += [_show(f"thread {name}", places) for name, places in _threads(task)]
    return "\n".join(part for part in parts if part) or "no Python frame is to be seen\n"


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


def _asyncio_tasks(held: Held) -> list[asyncio.Task[Any]]:
    from leasehold.database.border import current_asyncio_loop  # noqa: PLC0415

    loop = current_asyncio_loop()
    tasks = [] if loop is None else list(asyncio.all_tasks(loop))
    if sys.version_info < (3, 12):
        return tasks
    running = [each.get_context().get(running_job) for each in tasks]
    return [each for each, job in zip(tasks, running, strict=True) if job is not None and job[0] is held.row]


def _threads(task: trio.lowlevel.Task) -> Iterable[tuple[str, Iterable[Place]]]:
    """Trio names the thread of a task after it."""
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]  the documented way
    for thread in threading.enumerate():
        if thread.name.endswith(f" from {task.name}") and thread.ident in frames:
            places = reversed(list(traceback.walk_stack(frames[thread.ident])))
            yield thread.name, _below_us(places)


def _below_us(places: Iterable[Place]) -> list[Place]:
    """What the handler does: without the frames that led to it, where that leaves any."""
    found = list(places)
    return list(dropwhile(lambda place: _is_ours(place[0]), found)) or found


def _is_ours(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return any(name == each or name.startswith(f"{each}.") for each in OURS)


def _show(title: str, places: Iterable[Place]) -> str:
    lines = traceback.StackSummary.extract(iter(list(places))).format()
    return f"{title}\n{''.join(lines)}" if lines else ""
