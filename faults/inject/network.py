"""Faults of the network between one process and Postgres."""

from __future__ import annotations

from faults.fleet.proxy import Cut, Proxy, Weather
from faults.inject.stage import Stage

Targets = tuple[str, ...]
CONNECTIONS = ("dispatcher", "settler", "handlers", None)


async def under(stage: Stage, proxy: Proxy, weather: Weather) -> None:
    """So long, then fair weather again."""
    proxy.change(weather)
    try:
        await stage.wait()
    finally:
        proxy.change(Weather())


async def half_open(stage: Stage) -> Targets:
    member = stage.member
    process = member.process
    await under(stage, member.proxy, Weather(silent=True))
    return (process,)


async def half_open_replies(stage: Stage) -> Targets:
    member = stage.member
    process = member.process
    await under(stage, member.proxy, Weather(silent_replies=True))
    return (process,)


async def deaf_listener(stage: Stage) -> Targets:
    worker = stage.worker
    process = worker.process
    await under(stage, worker.proxy, Weather(silent=True, only="listener"))
    return (process,)


async def lost_notices(stage: Stage) -> Targets:
    for worker in stage.fleet.workers:
        worker.proxy.change(Weather(drops_notices=True))
    try:
        await stage.wait()
    finally:
        for worker in stage.fleet.workers:
            worker.proxy.change(Weather())
    return tuple(worker.process for worker in stage.fleet.workers)


async def partition(stage: Stage) -> Targets:
    member = stage.member
    process = member.process
    member.proxy.change(Weather(refuses=True))
    member.proxy.break_all()
    try:
        await stage.wait()
    finally:
        member.proxy.change(Weather())
    return (process,)


async def latency(stage: Stage) -> Targets:
    member = stage.member
    process = member.process
    await under(stage, member.proxy, Weather(latency=stage.dice.uniform(0.001, 0.1)))
    return (process,)


async def narrow_line(stage: Stage) -> Targets:
    member = stage.member
    process = member.process
    await under(stage, member.proxy, Weather(bytes_a_second=32_000))
    return (process,)


def cut(stage: Stage, proxy: Proxy, how: Cut, only: str | None) -> None:
    """Up to three of the next statements lose their connection."""
    if proxy.weather == Weather():
        proxy.change(Weather(only=only, cuts=[how] * stage.dice.randint(1, 3)))


async def cut_requests(stage: Stage) -> Targets:
    member = stage.member
    cut(stage, member.proxy, "request", stage.dice.choice(CONNECTIONS))
    return (member.process,)


async def cut_replies(stage: Stage) -> Targets:
    member = stage.member
    cut(stage, member.proxy, "reply", stage.dice.choice(CONNECTIONS))
    return (member.process,)


async def cut_client(stage: Stage) -> Targets:
    cut(stage, stage.client_proxy, stage.dice.choice(["request", "reply", "reply"]), None)
    return ()
