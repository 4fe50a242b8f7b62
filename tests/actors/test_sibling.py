from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic

import trio

from leasehold.actors.held import Held
from leasehold.actors.keeper import Pulse
from leasehold.actors.sibling import Watcher, stand_by
from leasehold.app import App
from leasehold.client import Client
from leasehold.database import open_database
from tests.support.held import held_job
from tests.support.proxy import proxied
from tests.support.waiting import until
from tests.support.working import working


async def test_a_handler_is_cancelled_when_its_lease_can_no_longer_be_trusted() -> None:
    held = held_job()
    held.trusted_until = monotonic() + 0.05
    with trio.fail_after(2), trio.CancelScope() as held.scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stand_by, held)
            await trio.sleep_forever()
    assert held.lost == "error"
    assert monotonic() >= held.trusted_until


async def test_each_renewal_moves_the_deadline_on() -> None:
    held = held_job()
    held.trusted_until = monotonic() + 0.05
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stand_by, held)
        for _ in range(3):
            former, held.trusted_until = held.trusted_until, monotonic() + 0.1
            await until(lambda former=former: monotonic() > former)
            assert held.lost is None
        await until(lambda: held.lost == "error")


async def test_a_sibling_ends_with_its_handler() -> None:
    held = held_job()
    with trio.fail_after(2):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stand_by, held)
            await until(lambda: held.watched is not None)
            assert held.watched is not None
            held.watched.cancel()
    assert held.lost is None


async def watching(running: list[Held], pulse: Pulse, check: Callable[[], Awaitable[None]]) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Watcher(lambda: running, pulse, nursery).run)
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


async def test_a_worker_that_cannot_reach_its_database_cancels_its_handlers_before_their_leases_end(
    database_url: str,
) -> None:
    app = App()
    moments: dict[str, float] = {}

    @app.kind()
    async def endless() -> None:
        moments["started"] = monotonic()
        try:
            await trio.sleep_forever()
        finally:
            moments["cancelled"] = monotonic()

    async with (
        proxied(database_url) as proxy,
        open_database(database_url) as direct,
        working(proxy.dsn, app, lease_seconds=1.8, renew_seconds=0.3, notify=False) as running,
    ):
        job_id = await Client(direct).enqueue("endless")
        await until(lambda: "started" in moments)
        await running.in_state(job_id, "running")
        proxy.stall()
        await until(lambda: "cancelled" in moments)
        rows = await direct.fetch(
            "select extract(epoch from lease_expires_at - clock_timestamp())::float8, state from leasehold.jobs"
        )
        left, state = rows[0]
        assert state == "running"
        assert 0 < left < 1
        proxy.resume()
        await until(lambda: not running.worker.holdings)
