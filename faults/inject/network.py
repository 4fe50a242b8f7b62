"""Faults of the network between one process and Postgres."""

from __future__ import annotations

from faults.fleet.member import Member
from faults.fleet.proxy import Cut, Proxy, Weather
from faults.inject.stage import Stage, Targets

CONNECTIONS = ("dispatcher", "settler", "handlers", None)


async def under(stage: Stage, weather: Weather, *members: Member) -> Targets:
    """These processes have this weather, then fair weather again."""
    processes = tuple(member.process for member in members)
    for member in members:
        member.proxy.change(weather)
        if weather.refuses:
            member.proxy.break_all()
    try:
        await stage.wait()
    finally:
        for member in members:
            member.proxy.change(Weather())
    return processes


async def half_open(stage: Stage) -> Targets:
    return await under(stage, Weather(silent=True), stage.member)


async def half_open_replies(stage: Stage) -> Targets:
    return await under(stage, Weather(silent_replies=True), stage.member)


async def deaf_listener(stage: Stage) -> Targets:
    return await under(stage, Weather(silent=True, only="listener"), stage.worker)


async def lost_notices(stage: Stage) -> Targets:
    return await under(stage, Weather(drops_notices=True), *stage.fleet.workers)


async def partition(stage: Stage) -> Targets:
    return await under(stage, Weather(refuses=True), stage.member)


async def latency(stage: Stage) -> Targets:
    member = stage.member
    return await under(stage, Weather(latency=stage.dice.uniform(0.001, 0.1)), member)


async def narrow_line(stage: Stage) -> Targets:
    return await under(stage, Weather(bytes_a_second=32_000), stage.member)


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
