"""What is run, and when whom SIGKILL meets. Pure."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec


class Kill(msgspec.Struct, frozen=True):
    """At `at` seconds the worker of this slot is killed, and started again `pause` seconds later."""

    at: float
    slot: int
    pause: float


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """One of the three.

    Attributes:
        seconds: how long tasks come; `rate` a second from each of the `producers`.
        workers: processes with so many `slots`.
        gaps: the least and the most seconds between two kills; None: nobody is killed.
        held: tasks that hold the slots of the one worker when it is killed; 0 in the other scenes.
    """

    name: str
    seconds: float = 0.0
    rate: float = 10.0
    producers: int = 3
    workers: int = 3
    slots: int = 4
    gaps: tuple[float, float] | None = None
    held: int = 0


FULL = (
    Scene(name="steady", seconds=720),
    Scene(name="chaos", seconds=540, gaps=(20, 45)),
    Scene(name="crash-window", workers=1, slots=2, held=4),
)
QUICK = (
    Scene(name="steady", seconds=10, producers=2, rate=5, workers=2, slots=2),
    Scene(name="chaos", seconds=20, producers=2, rate=5, workers=2, slots=2, gaps=(5, 8)),
    Scene(name="crash-window", workers=1, slots=2, held=4),
)


def lasting(scenes: Sequence[Scene], seconds: float | None) -> list[Scene]:
    """The scenes, with tasks that come for so many seconds; None: as long as they say."""
    return [each if each.held or seconds is None else msgspec.structs.replace(each, seconds=seconds) for each in scenes]


def plan(scene: Scene, seed: int) -> list[Kill]:
    """The kills of a scene, in their order; a slot is not killed while its worker is away."""
    if scene.gaps is None:
        return []
    rng = random.Random(seed)
    kills: list[Kill] = []
    at = rng.uniform(*scene.gaps)
    while at < scene.seconds:
        kills.append(Kill(at, rng.randrange(scene.workers), rng.uniform(2, 5)))
        at += rng.uniform(*scene.gaps)
    return kills
