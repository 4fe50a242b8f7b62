from __future__ import annotations

import asyncio

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from leasehold.actors.leases import poll
from leasehold.app.registry import builtin_app
from leasehold.client import open_client
from leasehold.database import Caller, Row
from leasehold.errors import DatabaseUnavailable
from leasehold.notify.doorbell import PAUSE_SECONDS, open_doorbell
from tests.support.flavours import in_flavour
from tests.support.waiting import PATIENCE, eventually
from tests.support.working import working


class Bell(Caller):
    """Remembers for which queues it was rung."""

    def __init__(self) -> None:
        self.rung: list[list[str]] = []
        self.fails = False
        self.heard = asyncio.Event()

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        assert "wake_idle_workers" in sql
        self.rung.append(list(args[0]))  # pyright: ignore[reportArgumentType, reportUnknownArgumentType]
        self.heard.set()
        if self.fails:
            raise DatabaseUnavailable
        return []


async def test_rings_that_come_together_are_one_and_name_each_queue_once(autojump_clock: MockClock) -> None:
    bell = Bell()
    async with open_doorbell(bell) as doorbell:
        for queue in ("mail", "slow", "mail"):
            doorbell.ring({queue})
        await wait_all_tasks_blocked()
        assert bell.rung == [["mail", "slow"]]
        for _ in range(100):
            doorbell.ring({"mail"})
        await trio.sleep(2 * PAUSE_SECONDS)
        assert bell.rung == [["mail", "slow"], ["mail"]]


async def test_what_is_left_is_rung_for_at_the_end(autojump_clock: MockClock) -> None:
    bell = Bell()
    async with open_doorbell(bell) as doorbell:
        doorbell.ring({"mail"})
    assert bell.rung == [["mail"]]


async def test_without_a_ring_nobody_is_bothered(autojump_clock: MockClock) -> None:
    bell = Bell()
    async with open_doorbell(bell):
        await trio.sleep(60)
    assert bell.rung == []


async def test_a_ring_that_fails_is_left_to_polling_and_the_next_one_is_tried(autojump_clock: MockClock) -> None:
    bell = Bell()
    bell.fails = True
    async with open_doorbell(bell) as doorbell:
        doorbell.ring({"mail"})
        await trio.sleep(1)
        doorbell.ring({"slow"})
        await trio.sleep(1)
    assert bell.rung == [["mail"], ["slow"]]


def test_under_asyncio_it_rings_as_well() -> None:
    bell = Bell()

    async def main() -> None:
        async with open_doorbell(bell) as doorbell:
            doorbell.ring({"mail", "slow"})
            await asyncio.wait_for(bell.heard.wait(), PATIENCE)
            doorbell.ring({"last"})

    in_flavour("asyncio", main)
    assert bell.rung == [["mail", "slow"], ["last"]]


@pytest.mark.parametrize("flavour", ["trio", "asyncio"])
def test_a_failure_inside_the_block_comes_out_and_leaves_no_ringer_behind(flavour: str) -> None:
    error = ValueError("mine")

    async def main() -> None:
        async with open_doorbell(Bell()) as doorbell:
            doorbell.ring({"mail"})
            raise error

    with pytest.raises(ValueError, match="mine") as caught:
        in_flavour(flavour, main)
    assert caught.value is error


async def test_a_client_wakes_idle_workers_after_its_commit_and_not_inside_it(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poll, "FIRST_POLL_SECONDS", 600.0)  # the decaying poll must not be what finds it
    async with working(database_url, builtin_app(), poll_seconds=600) as running:

        async def listens() -> bool:
            return bool(await running.database.fetch("select from leasehold.workers where idle and listening"))

        await eventually(listens)
        async with open_client(database_url) as client:
            before = running.worker.parts.dispatcher.statistics().wake_ups
            job = await running.finished(await client.enqueue("echo"))
            assert job.state == "completed"
            assert running.worker.parts.dispatcher.statistics().wake_ups > before


async def test_where_it_is_quiet_a_statement_may_ring_itself_and_only_one_in_ten_milliseconds(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    now = [100.0]
    monkeypatch.setattr("leasehold.notify.doorbell.monotonic", lambda: now[0])
    async with open_doorbell(Bell()) as doorbell:
        turns = [doorbell.take_over(), doorbell.take_over()]
        now[0] += PAUSE_SECONDS
        doorbell.ring({"mail"})
        turns.append(doorbell.take_over())
        await wait_all_tasks_blocked()  # it has rung
        turns.append(doorbell.take_over())
        now[0] += PAUSE_SECONDS
        turns.append(doorbell.take_over())
    assert turns == [True, False, False, False, True]
