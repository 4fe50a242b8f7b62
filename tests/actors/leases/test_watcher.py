from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic, time

import pytest
import trio
from trio.testing import MockClock

from leasehold.actors.attempts.held_job import HeldJob
from leasehold.actors.leases import watcher as pulse_module
from leasehold.actors.leases import watcher as sibling_module
from leasehold.actors.leases.watcher import Pulse, Watcher, stand_by
from leasehold.app import App
from leasehold.client import Client
from leasehold.database import open_database
from tests.support.held import held_job
from tests.support.proxy import proxied
from tests.support.waiting import PATIENCE, until
from tests.support.working import working


@pytest.fixture
def one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases are trusted by trio's clock, which begins at 0 and jumps."""
    monkeypatch.setattr(sibling_module, "monotonic", trio.current_time)
    monkeypatch.setattr(pulse_module, "monotonic", trio.current_time)


@pytest.mark.usefixtures("one_clock")
async def test_a_handler_is_cancelled_when_its_lease_can_no_longer_be_trusted(autojump_clock: MockClock) -> None:
    held = held_job()
    held.trusted_until = 30.0
    with trio.CancelScope() as held.scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stand_by, held)
            await trio.sleep_forever()
    assert (held.lost, trio.current_time()) == ("error", 30)


@pytest.mark.usefixtures("one_clock")
async def test_each_renewal_moves_the_deadline_on(autojump_clock: MockClock) -> None:
    held = held_job()
    held.trusted_until = 1.0
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stand_by, held)
        for second in (1, 2, 3):
            held.trusted_until = second + 1.0
            await trio.sleep_until(second + 0.5)
            assert held.lost is None
    assert (held.lost, trio.current_time()) == ("error", 4)


async def test_a_sibling_ends_with_its_handler() -> None:
    held = held_job()
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stand_by, held)
            await until(lambda: held.watched is not None)
            assert held.watched is not None
            held.watched.cancel()
    assert held.lost is None


async def watching(running: list[HeldJob], pulse: Pulse, check: Callable[[], Awaitable[None]]) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Watcher(lambda: running, [1], pulse, nursery, bool, bool).run)
        await check()
        nursery.cancel_scope.cancel()


async def test_the_watcher_starts_one_sibling_for_each_job_it_sees_and_beats_the_pulse() -> None:
    seen, unstarted = held_job(1), held_job(2)
    seen.started = monotonic()

    async def check() -> None:
        await until(lambda: seen.watched is not None)
        first = seen.watched
        for _ in range(2):
            beat = pulse.at
            await until(lambda beat=beat: pulse.at > beat)
        assert seen.watched is first

    pulse = Pulse()
    pulse.at = 0.0
    await watching([seen, unstarted], pulse, check)
    assert unstarted.watched is None


@pytest.mark.usefixtures("one_clock")
async def test_each_change_of_how_many_handlers_run_on_without_their_jobs_is_said_even_when_nothing_is_held(
    autojump_clock: MockClock,
) -> None:
    said: list[float] = []
    running = [held_job(1), held_job(2)]
    pulse = Pulse()
    async with trio.open_nursery() as nursery:
        watcher = Watcher(lambda: running, [], pulse, nursery, lambda: said.append(trio.current_time()), bool)
        nursery.start_soon(watcher.run)
        await trio.sleep(1.05)
        assert (said, pulse.is_resting) == ([], True)
        running[0].lose("cancelled")
        pulse.stir()
        await trio.sleep(1)
        assert (len(said), pulse.is_resting) == (1, False)
        running[1].lose("cancelled")
        await trio.sleep(1)
        assert len(said) == 2
        running.clear()
        await trio.sleep(1)
        assert (len(said), pulse.is_resting) == (3, True)
        nursery.cancel_scope.cancel()


@pytest.mark.acceptance  # it needs the moment between the end of the trust and that of the lease
async def test_a_worker_that_cannot_reach_its_database_cancels_its_handlers_before_their_leases_end(
    database_url: str,
) -> None:
    app = App()
    moments: dict[str, float] = {}

    @app.kind()
    async def endless() -> None:
        moments["started"] = time()
        try:
            await trio.sleep_forever()
        finally:
            moments["cancelled"] = time()

    async with (
        proxied(database_url) as proxy,
        open_database(database_url) as direct,
        working(proxy.dsn, app, lease_seconds=9.0, renew_seconds=0.5, notify=False) as running,
    ):
        job_id = await Client(direct).enqueue("endless")
        await until(lambda: "started" in moments)
        await running.in_state(job_id, "running")
        proxy.stall()
        await until(lambda: "cancelled" in moments)
        rows = await direct.fetch(
            "select extract(epoch from lease_expires_at)::float8 - $1, state from leasehold.jobs", moments["cancelled"]
        )
        left, state = rows[0]
        assert state == "running"
        assert left > 0
        proxy.resume()
        await until(lambda: [held.attempt for held in running.worker.parts.holdings.values()] == [2])


@pytest.mark.usefixtures("one_clock")
async def test_who_did_not_turn_for_a_second_says_so(autojump_clock: MockClock) -> None:
    said: list[float] = []
    pulse = Pulse()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Watcher(list, [1], pulse, nursery, lambda: said.append(trio.current_time()), bool).run)
        await trio.sleep(1.55)
        assert said == []
        pulse.at -= 2.0  # as if this process had been stopped
        await trio.sleep(1.0)
        nursery.cancel_scope.cancel()
    assert said == [pytest.approx(1.6)]


def test_a_pulse_that_is_stirred_beats_before_anybody_believes_its_last_beat(monkeypatch: pytest.MonkeyPatch) -> None:
    pulse, rested = Pulse(), list[bool]()
    monkeypatch.setattr(pulse, "beat", lambda: rested.append(pulse.is_resting))
    pulse.is_resting = True
    pulse.stir()
    assert (rested, pulse.is_resting) == ([True], False)


@pytest.mark.usefixtures("one_clock")
async def test_it_rests_while_the_worker_holds_no_job_and_rouses_the_keeper_when_it_does(
    autojump_clock: MockClock,
) -> None:
    pulse, holdings, roused = Pulse(), [1], list[float]()
    async with trio.open_nursery() as nursery:
        watcher = Watcher(list, holdings, pulse, nursery, bool, lambda: roused.append(trio.current_time()))
        nursery.start_soon(watcher.run)
        await trio.sleep(0.05)
        holdings.clear()
        await trio.sleep(60)
        assert (len(roused), pulse.at, pulse.is_resting) == (1, 0.0, True)
        pulse.stir()
        assert (pulse.at, pulse.is_resting) == (60.05, False)
        await trio.sleep(1)
        assert (len(roused), pulse.is_resting) == (1, True)  # a short job wakes nobody else
        holdings.append(2)
        pulse.stir()
        await trio.sleep(1.05)
        assert len(roused) == 11
        assert pulse.at == pytest.approx(trio.current_time(), abs=0.1)
        nursery.cancel_scope.cancel()
