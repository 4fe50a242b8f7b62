"""How long a process that is told to stop may take for what."""

from __future__ import annotations

from leasehold.settings.settings import Settings

FORCE_SECONDS = 5.0
LEEWAY_SECONDS = 0.5


def seconds_to_stop(settings: Settings) -> tuple[float, float]:
    """For draining, and for handing back what did not end meanwhile.

    Both fit into `stop_seconds`, after which somebody kills the process: a job that is not handed back by then is charged
    with the death of its process.
    """
    if settings.stop_seconds is None:
        return settings.drain_seconds, FORCE_SECONDS
    total = settings.stop_seconds - LEEWAY_SECONDS
    force = min(FORCE_SECONDS, total / 2)
    return min(settings.drain_seconds, total - force), force
