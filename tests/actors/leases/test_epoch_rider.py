from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from leasehold.actors.epochs import LOOK_SECONDS, EpochLooker, EpochWatch
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.leases.poll import EpochRider, PollDecay, SharedPoll
from leasehold.database import Database
from leasehold.errors import DatabaseUnavailable, EpochOver
from tests.support.epochs import fail_over
from tests.support.held import NoTurns


async def riding(database: Database) -> tuple[EpochWatch, SharedPoll]:
    watch = EpochWatch()
    await watch.greet(database)
    watch.wait_for_change()
    look = SharedPoll(database, WorkerIdentity("w1"), PollDecay(5.0), NoTurns())
    look.carry(EpochRider(watch))
    return watch, look


async def test_a_poll_notices_that_the_database_has_failed_over(database: Database) -> None:
    watch, look = await riding(database)
    await look.ask()
    assert not watch.is_over
    await fail_over(database)
    watch.asked_at = float("-inf")
    with pytest.raises(EpochOver):
        await look.ask()
    assert watch.is_over


async def test_a_poll_that_went_to_a_standby_says_so(database: Database) -> None:
    """Behind a pooler the connection of the dispatcher may lead to another server than before."""
    watch, _ = await riding(database)
    told: Any = {"epoch": None, "position": None}
    with pytest.raises(DatabaseUnavailable, match="standby"):
        EpochRider(watch).take_answer(told)


async def test_it_rides_again_only_when_it_is_time(database: Database) -> None:
    watch, look = await riding(database)
    rider = EpochRider(watch)
    assert rider.ask(PollDecay(5.0)) == {"known": watch.epoch, "seen": watch.position}
    await look.ask()
    assert rider.ask(PollDecay(5.0)) == {}
    assert rider.ask(PollDecay(LOOK_SECONDS)) != {}


class Asked:
    """Answers find_epoch, and counts."""

    def __init__(self) -> None:
        self.times = 0

    async def call(self, function: str, *params: object) -> list[dict[str, object]]:
        assert function == "find_epoch"
        self.times += 1
        return [{"epoch": 1, "position": None}]


async def test_who_rides_on_rare_polls_asks_for_nothing_in_between(autojump_clock: MockClock) -> None:
    watch, asked = EpochWatch(), Asked()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(EpochLooker(watch, asked).run)  # type: ignore[arg-type]
        await trio.sleep(2.5 * LOOK_SECONDS)
        assert asked.times == 3
        EpochRider(watch).ask(PollDecay(10 * LOOK_SECONDS))
        await trio.sleep(11 * LOOK_SECONDS)
        assert asked.times == 3
        await trio.sleep(2 * LOOK_SECONDS)
        assert asked.times > 3
        nursery.cancel_scope.cancel()
