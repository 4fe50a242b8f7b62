from __future__ import annotations

from leasehold.actors.attempts.context import describe_slots, slots_of
from leasehold.app import App
from leasehold.app.registry import with_builtins
from leasehold.settings import Settings


def test_an_asyncio_app_has_twenty_slots_by_default_and_any_other_three() -> None:
    assert slots_of(Settings(), with_builtins(App(runs="asyncio"))) == 20
    assert slots_of(Settings(), with_builtins(App())) == slots_of(Settings(), App(runs="thread")) == 3
    assert slots_of(Settings(slots=7), App(runs="asyncio")) == 7


def test_a_default_is_told_together_with_what_changes_it() -> None:
    told = describe_slots(Settings(), App(runs="asyncio"), 20)
    assert told == "20 slots (the default for runs='asyncio'; --slots or LEASEHOLD_SLOTS sets another number)"
    assert describe_slots(Settings(slots=7), App(), 7) == "7 slots"
    assert describe_slots(Settings(), App(), 3) == "3 slots"
