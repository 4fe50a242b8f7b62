from __future__ import annotations

from datetime import timedelta

import pytest

from leasehold.actors.epochs import LOOK_SECONDS, EpochWatch
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.leases.poll import EpochRider, SharedPoll
from leasehold.database import Database
from leasehold.errors import EpochOver
from tests.support.epochs import fail_over


class Turns:
    """Of nobody."""

    every = timedelta(minutes=1)

    def turn(self, is_ours: bool) -> None:
        pass


async def riding(database: Database) -> tuple[EpochWatch, SharedPoll]:
    watch = EpochWatch()
    await watch.greet(database)
    watch.wait_for_turn()
    look = SharedPoll(database, WorkerIdentity("w1"), 5.0, Turns())
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


async def test_it_rides_again_only_when_it_is_time(database: Database) -> None:
    watch, look = await riding(database)
    rider = EpochRider(watch)
    assert rider.ask(5.0) == {"known": watch.epoch, "seen": watch.position}
    await look.ask()
    assert rider.ask(5.0) == {}
    assert rider.ask(LOOK_SECONDS) != {}
