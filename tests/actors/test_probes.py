from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import trio

from leasehold.actors import probes as probing
from leasehold.actors.probes import Probes, Watched
from leasehold.app import App
from leasehold.app.registry import builtin_app
from leasehold.database import Database
from leasehold.observability.health import Health
from leasehold.observability.probes import open_probes
from tests.leasehold.observability.test_probes import Probes as Asking
from tests.support.waiting import until
from tests.support.working import Working, quick_settings, working


@contextmanager
def served(health: Health, probes: Probes) -> Generator[Asking]:
    with open_probes("127.0.0.1", 0, health, probes._expose) as url:  # pyright: ignore[reportPrivateUsage]
        yield Asking(url, health)


@asynccontextmanager
async def probed(database: Database, running: Working, app: App) -> AsyncGenerator[Probes]:
    """Probes of a worker that runs, looking when the test says so."""
    async with database.reserve("probes") as connection:
        settings = quick_settings(probe_port=0)
        yield Probes(settings, [running.worker], connection, app.observers, lambda: False)


async def ask(asking: Asking, path: str) -> tuple[int, str]:
    status, _, text = await trio.to_thread.run_sync(asking.get, path)
    return status, text


async def test_a_worker_has_started_when_it_has_registered_and_is_ready_until_it_drains(
    database_url: str, database: Database
) -> None:
    app = builtin_app()
    async with working(database_url, app) as running, probed(database, running, app) as probes:
        await running.ready()
        probes.look()
        probes.health.database_answered()
        with served(probes.health, probes) as asking:
            assert (await ask(asking, "/startupz"))[0] == 200
            status, text = await ask(asking, "/readyz?verbose")
            assert status == 200
            for check in ("event loop", "dispatcher", "settler", "lease keeper", "database"):
                assert check in text
            running.worker.drain()
            probes.look()
            assert (await ask(asking, "/readyz"))[0] == 503
            assert (await ask(asking, "/livez"))[0] == 200


async def test_metrics_tell_what_the_worker_did_by_kind(database_url: str, database: Database) -> None:
    app = builtin_app()

    @app.kind()
    async def bad() -> None:
        raise ValueError("no")

    async with working(database_url, app) as running, probed(database, running, app) as probes:
        for kind in ("echo", "echo"):
            await running.run(kind)
        await running.run("bad", max_attempts=1)
        await until(lambda: not running.worker.parts.holdings)
        with served(probes.health, probes) as asking:
            _, text = await ask(asking, "/metrics")
    lines = set(text.splitlines())
    assert 'leasehold_worker_jobs_started_total{kind="echo"} 2.0' in lines
    assert 'leasehold_worker_attempts_total{kind="echo",outcome="completed"} 2.0' in lines
    assert 'leasehold_worker_attempts_total{kind="bad",outcome="failed"} 1.0' in lines
    assert 'leasehold_worker_run_seconds_count{kind="echo"} 2.0' in lines
    assert "leasehold_worker_slots_configured 3.0" in lines
    assert 'leasehold_worker_outcomes_settled_total{outcome="completed"} 2.0' in lines
    assert any(line.startswith("leasehold_loop_lag_seconds ") for line in lines)


async def test_a_blocked_event_loop_is_told_while_it_is_blocked(database_url: str, database: Database) -> None:
    """The answer comes from a thread: this test blocks the loop that the worker and the probes share."""
    app = builtin_app()
    async with working(database_url, app) as running, probed(database, running, app) as probes:
        await running.ready()
        health = Health(0.05)
        with served(health, probes) as asking:

            def lives() -> bool:
                health.beat()
                return asking.get("/livez")[0] == 200

            await until(lives)
            time.sleep(0.1)  # noqa: ASYNC251 - a handler that does what none should
            status, _, text = asking.get("/livez")
            assert status == 503
            assert "a handler blocks it" in text
            await until(lives)


async def test_they_run_beside_the_actors_of_a_process(database_url: str, database: Database) -> None:
    app = builtin_app()
    async with working(database_url, app) as running, probed(database, running, app) as probes:
        await running.ready()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(probes.run)
            await until(lambda: all(each.problem is None for each in probes.health.ask("readyz")))
            nursery.cancel_scope.cancel()


def test_an_actor_that_does_not_move_is_stuck_and_one_without_work_is_not() -> None:
    mark: list[int | None] = [1]
    watched = Watched("settler", lambda: mark[0])
    assert watched.problem(100.0, 90.0) is None
    assert watched.problem(189.0, 90.0) is None
    assert watched.problem(191.0, 90.0) == "it has not moved for 91 s"
    mark[0] = 2
    assert watched.problem(192.0, 90.0) is None
    mark[0] = None
    assert watched.problem(1000.0, 90.0) is None
    assert watched.problem(2000.0, 90.0) is None
    assert probing.STUCK_SECONDS > 60
