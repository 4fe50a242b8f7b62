"""What hundreds of idle workers cost Postgres, without the CPU of hundreds of Pythons: sessions that ask what idle workers ask.

As they are told to, awake and after ten minutes without a job, and as if all listened and each polled alone. `herd` has whole
workers.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import count
from uuid import UUID, uuid4

import msgspec

from benchmarks.figures import Figure, Result, Say, Size
from benchmarks.server import Connection, Server, at_beats, connected, roomy
from leasehold.actors.leases.poll import MOST_POLLERS, poll_of_each

SIZES = {"full": (500, 60.0, 60.0), "quick": (500, 30.0, 20.0), "tiny": (40, 0.1, 0.1)}
NOTICES_PER_SECOND = 50
POLL, HEARTBEAT = 5.0, 30.0
CHANNEL = "leasehold"
NOTIFY = "select leasehold.send_notice('wake:nobody')"
REGISTER = "select leasehold.register_worker($1, $2, 'host', 1, '0', '{}', '{nap}', 4, false, heartbeat_seconds => 30)"
LOOK = "select * from leasehold.look_for_work('{}', $1, incarnation => $2, vitals => $3)"
CLAIM = "select * from leasehold.claim_jobs($1, 'w', '{}', '{nap}', 4, interval '30 s')"


class Sleepers(msgspec.Struct, frozen=True, kw_only=True):
    """`idle` and `noticed` are Postgres' shares of one core: with nothing to do, and with notices."""

    listeners: int
    poll: float
    idle: float
    noticed: float
    notices_per_second: float


class SleepersResult(Result, frozen=True, kw_only=True):
    """The same sessions in both ways."""

    sessions: int
    told: Sleepers
    asleep: Sleepers
    alone: Sleepers


async def measure(server: Server, size: Size, say: Say) -> SleepersResult:
    """One way after the other, on one server."""
    sessions, settle, seconds = SIZES[size]
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(roomy(server, 2 * sessions + 50, say))
        told, asleep, alone = [
            await _measure(server, (sessions, settle, seconds), say, heartbeat, is_told=is_told)
            for heartbeat, is_told in ((HEARTBEAT, True), (2 * HEARTBEAT, True), (HEARTBEAT, False))
        ]
    ways = (("idle", told), ("asleep", asleep), ("idle", alone))
    figures = [figure for state, way in ways for figure in _figures(f"{sessions} {state}", way)]
    return SleepersResult(figures=figures, sessions=sessions, told=told, asleep=asleep, alone=alone)


async def _measure(
    server: Server, size: tuple[int, float, float], say: Say, heartbeat: float, *, is_told: bool
) -> Sleepers:
    sessions, settle, seconds = size
    async with AsyncExitStack() as stack:
        dsn = await stack.enter_async_context(server.database())
        boss = await stack.enter_async_context(connected(dsn))
        fleet = [(uuid4(), await stack.enter_async_context(connected(dsn))) for _ in range(sessions)]
        for number, (incarnation, _) in enumerate(fleet):
            await boss.fetchval(REGISTER, incarnation, f"w{number}")
        ears = [each for each in fleet if not is_told or await _is_to_listen(boss, each[0])]
        for incarnation, _ in ears:
            await (await stack.enter_async_context(connected(dsn))).add_listener(CHANNEL, lambda *_: None)
            await boss.execute(f"update leasehold.workers set listening = true where incarnation = '{incarnation}'")
        poll = poll_of_each(POLL, sessions, heartbeat) if is_told else POLL
        say(f"{len(ears)} of {sessions} sessions listen, each polls every {poll:g} s")
        lives = [asyncio.create_task(_live(*each, each in ears, poll, heartbeat)) for each in fleet]
        await asyncio.sleep(settle)
        idle = await server.cpu_percent(asyncio.sleep(seconds))
        began, sent = time.monotonic(), int(seconds * NOTICES_PER_SECOND)
        noticed = await server.cpu_percent(at_beats(boss, NOTIFY, sent, NOTICES_PER_SECOND))
        rate = sent / (time.monotonic() - began)
        for life in lives:
            life.cancel()
        await asyncio.gather(*lives, return_exceptions=True)
    return Sleepers(listeners=len(ears), poll=poll, idle=idle, noticed=noticed, notices_per_second=rate)


async def _is_to_listen(boss: Connection, incarnation: UUID) -> bool:
    beat = "select is_to_listen from leasehold.heartbeat_worker($1, 0, 'ready', false)"
    return bool(await boss.fetchval(beat, incarnation))


async def _live(incarnation: UUID, connection: Connection, listens: bool, poll: float, heartbeat: float) -> None:
    """Poll, with a heartbeat where the next poll would be too late for it, and claim after one in 32 polls."""
    vitals = json.dumps({"active_jobs": 0, "state": "ready", "listening": listens, "slots": 4})
    beaten_at = time.monotonic() - random.uniform(0, heartbeat)
    await asyncio.sleep(random.uniform(0, poll))
    for polls in count(random.randrange(MOST_POLLERS)):
        now = time.monotonic()
        is_due = now - beaten_at + 1.2 * poll >= heartbeat
        beaten_at = now if is_due else beaten_at
        await connection.fetch(LOOK, timedelta(seconds=POLL), incarnation, vitals if is_due else None)
        if polls % MOST_POLLERS == 0:
            await connection.fetch(CLAIM, incarnation)
        await asyncio.sleep(now + poll - time.monotonic())


def _figures(sessions: str, way: Sleepers) -> list[Figure]:
    name = f"{sessions}, {way.listeners} listen, polls each {way.poll:g} s"
    return [
        Figure(name=f"{name}: CPU of Postgres", value=way.idle, unit="% of a core"),
        Figure(name=f"{name}: with {way.notices_per_second:.0f} notices/s", value=way.noticed, unit="% of a core"),
    ]
