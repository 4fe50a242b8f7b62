"""The benchmarks by name, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from benchmarks import (
    backlog,
    connections,
    drain,
    enqueue,
    fleet,
    growth,
    herd,
    horizon,
    http,
    idle,
    kinds,
    memory,
    pickup,
    serializable,
    sleepers,
    slots,
    table_width,
    tabs,
    ticks,
)
from benchmarks.figures import Result, Say, Size
from benchmarks.server import Server

Measure = Callable[[Server, Size, Say], Coroutine[Any, Any, Result]]

BENCHMARKS: Mapping[str, Measure] = {
    "drain": drain.measure,
    "enqueue": enqueue.measure,
    "pickup": pickup.measure,
    "connections": connections.measure,
    "serializable": serializable.measure,
    "http": http.measure,
    "idle": idle.measure,
    "slots": slots.measure,
    "fleet": fleet.measure,
    "herd": herd.measure,
    "sleepers": sleepers.measure,
    "backlog": backlog.measure,
    "growth": growth.measure,
    "kinds": kinds.measure,
    "memory": memory.measure,
    "horizon": horizon.measure,
    "ticks": ticks.measure,
    "table": table_width.measure,
    "tabs": tabs.measure,
}
