"""The benchmarks by name, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from benchmarks import backlog, drain, enqueue, fleet, herd, http, idle, memory, pickup, table_width, ticks
from benchmarks.figures import Result, Say, Size
from benchmarks.server import Server

Measure = Callable[[Server, Size, Say], Coroutine[Any, Any, Result]]

BENCHMARKS: Mapping[str, Measure] = {
    "drain": drain.measure,
    "enqueue": enqueue.measure,
    "pickup": pickup.measure,
    "http": http.measure,
    "idle": idle.measure,
    "fleet": fleet.measure,
    "herd": herd.measure,
    "backlog": backlog.measure,
    "memory": memory.measure,
    "ticks": ticks.measure,
    "table": table_width.measure,
}
