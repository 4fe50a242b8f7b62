"""How many jobs a worker runs at once where nobody says it."""

from __future__ import annotations

from leasehold.app import App
from leasehold.settings import Settings

SLOTS = 3
ASYNCIO_SLOTS = 20
"""Handlers that wait for the network: few of them would leave the machine idle."""


def slots_of(settings: Settings, app: App) -> int:
    """The slots that the settings name, else what suits the app."""
    if settings.slots is not None:
        return settings.slots
    return ASYNCIO_SLOTS if app.runs == "asyncio" else SLOTS


def told_slots(settings: Settings, app: App, slots: int) -> str:
    """The number for people, and where it is from if the app has made it: `20 slots (the default for runs='asyncio'; …)`."""
    if settings.slots is not None or app.runs != "asyncio":
        return f"{slots} slots"
    return f"{slots} slots (the default for runs='{app.runs}'; --slots or LEASEHOLD_SLOTS sets another number)"
