from __future__ import annotations

from collections.abc import Sequence

import pytest
import trio
from trio.testing import MockClock

from leasehold.actors.supervise import Backoff, Outage, supervise, until_there
from leasehold.errors import ActorFailed, DatabaseUnavailable, SchemaMismatch, SchemaOutdated, SettingsError


class Fragile:
    """Fails in the given ways, one after the other, then ends."""

    name = "fragile"

    def __init__(self, failures: Sequence[BaseException]) -> None:
        self._failures = list(failures)
        self.started_at: list[float] = []

    async def run(self) -> None:
        self.started_at.append(trio.current_time())
        await trio.lowlevel.checkpoint()
        if self._failures:
            raise self._failures.pop(0)


async def test_an_actor_that_lost_the_database_runs_again_after_a_growing_wait(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    actor = Fragile([DatabaseUnavailable("gone")] * 4)
    await supervise(actor)
    waits = [later - earlier for earlier, later in zip(actor.started_at, actor.started_at[1:], strict=False)]
    assert len(waits) == 4
    for wait, ceiling in zip(waits, [0.1, 0.2, 0.4, 0.8], strict=True):
        assert ceiling / 2 <= wait <= ceiling
    assert "fragile lost the database" in caplog.text
    assert "gone" in caplog.text


async def test_a_database_that_stays_away_for_hours_ends_nothing(autojump_clock: MockClock) -> None:
    actor = Fragile([DatabaseUnavailable()] * 1000)
    await supervise(actor)
    assert len(actor.started_at) == 1001


async def test_trouble_with_the_database_is_seen_through_nurseries(autojump_clock: MockClock) -> None:
    lost = DatabaseUnavailable()
    actor = Fragile([ExceptionGroup("a", [lost, ExceptionGroup("b", [lost])])])
    await supervise(actor)
    assert len(actor.started_at) == 2


@pytest.mark.parametrize(
    "failure",
    [ValueError("a bug"), ExceptionGroup("mixed", [DatabaseUnavailable(), ExceptionGroup("", [ValueError("a bug")])])],
    ids=["alone", "beside trouble with the database"],
)
async def test_any_other_failure_ends_the_process(failure: Exception) -> None:
    actor = Fragile([failure])
    with pytest.raises(ActorFailed, match=r"fragile failed: ValueError\('a bug'\)") as raised:
        await supervise(actor)
    assert isinstance(raised.value.__cause__, ValueError)
    assert len(actor.started_at) == 1


async def test_a_wrong_setting_is_told_in_its_own_words() -> None:
    wrong = SettingsError("the probes cannot listen on 127.0.0.1:1; choose another --probe-port")
    with pytest.raises(SettingsError) as raised:
        await supervise(Fragile([ExceptionGroup("", [wrong])]))
    assert raised.value is wrong


async def test_the_failure_of_an_actor_within_an_actor_is_told_as_its_own() -> None:
    inner = ActorFailed("lease keeper failed: out of order")
    with pytest.raises(ActorFailed) as raised:
        await supervise(Fragile([ExceptionGroup("", [DatabaseUnavailable(), ExceptionGroup("", [inner])])]))
    assert raised.value is inner


async def test_a_supervised_actor_can_be_cancelled_while_it_waits(autojump_clock: MockClock) -> None:
    with trio.move_on_after(60) as scope:
        await supervise(Fragile([DatabaseUnavailable()] * 100_000))
    assert scope.cancelled_caught


async def test_a_schema_that_is_not_there_is_said_at_once_and_then_each_minute(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def begin() -> None:
        if trio.current_time() < 150:
            raise SchemaOutdated("run `leasehold migrate`")

    began = trio.current_time()
    await until_there(begin, Outage())
    assert trio.current_time() - began >= 150
    lines = [each.getMessage() for each in caplog.records]
    assert lines == ["run `leasehold migrate`; this process waits until that is done"] * 3


async def test_a_schema_that_is_too_new_is_not_waited_for(autojump_clock: MockClock) -> None:
    async def begin() -> None:
        raise SchemaMismatch("install a newer leasehold")

    with pytest.raises(SchemaMismatch):
        await until_there(begin, Outage())


def test_the_back_off_doubles_to_five_seconds_and_is_forgotten_after_half_a_minute() -> None:
    backoff = Backoff(draw=lambda: 1.0)
    assert [backoff.wait(now) for now in range(8)] == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0])
    assert backoff.wait(7 + 31) == pytest.approx(0.1)


def test_the_back_off_waits_at_least_half_of_its_ceiling() -> None:
    assert Backoff(draw=lambda: 0.0).wait(0.0) == pytest.approx(0.05)
