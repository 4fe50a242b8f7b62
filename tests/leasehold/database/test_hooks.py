from __future__ import annotations

from typing import Any

import pytest

from leasehold.database.hooks import Hooks


class Flushed:
    """What was let out, call by call."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def sync(self, items: list[Any]) -> None:
        self.calls.append(items)

    async def later(self, items: list[Any]) -> None:
        self.calls.append(items)


async def test_each_key_is_flushed_once_with_all_its_items_in_order() -> None:
    hooks, flushed = Hooks(), Flushed()
    for item in (1, 2, 1):
        hooks.add("numbers", item, flushed.sync)
    for queue in ("mail", "mail", "ship"):
        hooks.add("wake", queue, flushed.later, once=True)
    assert len(hooks) == 5
    await hooks.flush()
    assert flushed.calls == [[1, 2, 1], ["mail", "ship"]]
    await hooks.flush()
    assert len(flushed.calls) == 2


async def test_what_a_savepoint_added_goes_with_it() -> None:
    hooks, flushed = Hooks(), Flushed()
    hooks.add("wake", "mail", flushed.sync, once=True)
    outer = hooks.mark()
    hooks.add("wake", "mail", flushed.sync, once=True)
    hooks.add("wake", "ship", flushed.sync, once=True)
    inner = hooks.mark()
    hooks.add("events", "made", flushed.sync)
    hooks.roll_back(inner)
    assert len(hooks) == 2
    hooks.roll_back(outer)
    await hooks.flush()
    assert flushed.calls == [["mail"]]


async def test_a_rollback_lets_nothing_out() -> None:
    hooks, flushed = Hooks(), Flushed()
    hooks.add("wake", "mail", flushed.sync)
    hooks.discard()
    await hooks.flush()
    assert flushed.calls == []


async def test_what_fails_after_the_commit_is_logged_and_spoils_nothing(caplog: pytest.LogCaptureFixture) -> None:
    hooks, flushed = Hooks(), Flushed()

    def breaks(_items: list[Any] | None = None) -> None:
        raise ValueError("too late to undo")

    hooks.after_commit(breaks)
    hooks.after_commit(lambda: flushed.calls.append("second"))
    hooks.add("broken", 1, breaks)
    hooks.add("whole", 2, flushed.later)
    await hooks.flush()
    assert flushed.calls == ["second", [2]]
    assert caplog.text.count("ValueError: too late to undo") == 2
