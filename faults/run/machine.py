"""One run of the machine."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from signal import SIGCONT, SIGTERM

import msgspec
import psycopg
import trio

from faults.checker.hygiene import LONGEST_IDLE
from faults.fleet.fleet import Fleet, Place, Shape, open_fleet
from faults.fleet.member import Member
from faults.fleet.proxy import Weather
from faults.fleet.server import DATABASE, Server, open_server
from faults.history.collecting import collect, install_watch
from faults.history.file import write_history
from faults.history.records import Begin, Entry, Fault, Health, Over, Session
from faults.inject.catalogue import INJECTIONS
from faults.inject.stage import Stage, blocking
from faults.load.clients import Clients, Pace
from faults.load.diary import read_diaries
from faults.load.mix import Mix
from faults.schedule.kinds import KINDS
from faults.schedule.planning import Planned, plan
from leasehold.database import open_database
from leasehold.database.migrations import migrate

READY_WITHIN = 180.0
TIDY_WITHIN = 30.0
GONE_WITHIN = 60.0
LEFT = """
select count(*) from leasehold.jobs j where j.state <> 'blocked'
    or not exists (select from leasehold.job_blockers b where b.job_id = j.id and b.closed_at is null)
"""
SESSIONS = """
select application_name, coalesce(state, ''), case when starts_with(state, 'idle in transaction')
       then extract(epoch from clock_timestamp() - state_change)::float8 else 0 end, coalesce(age(backend_xmin), 0)
  from pg_stat_activity where starts_with(application_name, 'leasehold')
"""


class Wish(msgspec.Struct, frozen=True):
    """What to run. Times in seconds. `faults`: of these kinds, None for all.

    `drain` is the longest time after the faults in which no job ends; a fleet that goes on, however slowly, is waited for.
    """

    seed: int
    command: str
    seconds: float = 75.0
    every: float = 2.5
    rate: float = 300.0
    most_waiting: int = 3000
    batch: int = 15
    drain: float = 90.0
    faults: tuple[str, ...] | None = None
    shape: Shape = Shape()


Say = Callable[[str], None]


def run_machine(wish: Wish, folder: Path, say: Say) -> Path:
    """Run it; returns the file with the history. Logs of the processes stay in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with open_server() as server:
        trio.run(migrate, server.dsn)
        install_watch(server.dsn)
        entries = trio.run(Run(wish, server, folder, say).run)
        path = folder / "history.jsonl"
        count = write_history(path, [*entries, *read_diaries(folder / "diaries"), *collect(server.dsn)])
    say(f"{count:,} records in {path}")
    return path


class Run:
    """The asynchronous part of a run."""

    def __init__(self, wish: Wish, server: Server, folder: Path, say: Say) -> None:
        self._wish = wish
        self._server = server
        self._folder = folder
        self._say = say
        self._faults: list[Entry] = []
        self._alone = trio.Lock()
        self._seen = 0

    async def run(self) -> list[Entry]:
        """Everything that the triggers do not note."""
        wish = self._wish
        begin = Begin(wish.seed, time.time(), wish.command, wish.shape.lease, wish.shape.poll)
        async with trio.open_nursery() as nursery, self._opened(nursery) as stage:
            await self._load_and_faults(stage)
            await self._heal(stage)
            healed = time.time()
            await self._drain()
            over = Over(healed, time.time(), stage.clients.pace.finished)
            health = await self._part(stage.fleet)
            nursery.cancel_scope.cancel()
        return [begin, *stage.clients.calls, *self._faults, *health, over]

    @asynccontextmanager
    async def _opened(self, nursery: trio.Nursery) -> AsyncGenerator[Stage]:
        """The fleet, ready for work, and clients."""
        wish = self._wish
        place = Place(self._server, self._folder, nursery)
        proxy = await place.proxy()
        async with (
            open_database(proxy.dsn(DATABASE, "client"), application_name="leasehold client", timeout=10.0) as database,
            open_fleet(place, wish.shape) as fleet,
        ):
            mix = Mix(wish.seed)
            gateway = fleet.gateway.env["GATEWAY_URL"]
            clients = Clients(database, gateway, mix, Pace(wish.rate, wish.most_waiting), wish.batch)
            await self._until_ready(wish.shape.workers)
            await clients.set_up()
            yield Stage(fleet, self._server, clients, mix, proxy, Random(wish.seed), 0.0)

    async def _load_and_faults(self, stage: Stage) -> None:
        """Until the time is over."""
        wish = self._wish
        planned = plan(wish.seed, wish.seconds, wish.every, wish.faults)
        self._say(f"seed {wish.seed}: {len(planned)} faults in {wish.seconds:.0f} s")
        stage.clients.pace.begin()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch, stage)
            nursery.start_soon(stage.clients.run)
            async with trio.open_nursery() as faults:
                with trio.move_on_after(wish.seconds):
                    began = trio.current_time()
                    for each in planned:
                        await trio.sleep_until(began + each.at)
                        faults.start_soon(self._inject, stage, each)
                    await trio.sleep_until(began + wish.seconds)
            nursery.cancel_scope.cancel()

    async def _inject(self, stage: Stage, planned: Planned) -> None:
        """One fault, and its record."""
        mine = msgspec.structs.replace(stage, dice=Random(planned.seed), hold=planned.hold)
        kind = KINDS[planned.name]
        lock = self._alone if kind.alone else trio.Lock()
        async with lock:
            started = time.time()
            self._say(f"  {kind.number} {planned.name}" + (f", {planned.hold:.1f} s" if planned.hold else ""))
            targets = await INJECTIONS[planned.name](mine)
            self._faults.append(Fault(planned.name, kind.number, started, time.time(), targets))

    async def _watch(self, stage: Stage) -> None:
        """Count what has finished, for the pace."""
        while True:
            with suppress(psycopg.Error):
                stage.clients.pace.finished += await blocking(self._count_new)
            await trio.sleep(0.25)

    def _count_new(self) -> int:
        [(count, last)] = self._server.query(
            "select count(*), coalesce(max(n), %s) from watch.ends where n > %s", self._seen, self._seen
        )
        self._seen = last
        return count

    async def _heal(self, stage: Stage) -> None:
        """Fair weather, everybody awake, nothing paused, no more ticks."""
        stage.client_proxy.change(Weather())
        for member in stage.fleet.members:
            member.proxy.change(Weather())
            member.signal(SIGCONT)
        await stage.clients.heal()
        self._say("healed; waiting for the jobs to end")

    async def _drain(self) -> None:
        """Until every job has ended that can, or none has ended for so long that none will."""
        fewest = None
        with trio.move_on_after(self._wish.drain) as patience:
            while True:
                with suppress(psycopg.Error):
                    [(left,)] = await blocking(lambda: self._server.query(LEFT))
                    if left == 0:
                        return
                    if fewest is None or left < fewest:
                        fewest, patience.deadline = left, trio.current_time() + self._wish.drain
                await trio.sleep(0.2)

    async def _part(self, fleet: Fleet) -> list[Entry]:
        """How the sessions and the processes look at the end; then they are asked to go."""
        sessions = await self._tidy_sessions()
        pids = {member.name: member.pid for member in fleet.members}
        for member in fleet.members:
            member.retire()
            member.signal(SIGTERM)
        with trio.move_on_after(GONE_WITHIN):
            while any(member.is_alive for member in fleet.members):
                await trio.sleep(0.1)
        return [*sessions, *(health(member, pids[member.name]) for member in fleet.members)]

    async def _tidy_sessions(self) -> list[Session]:
        """All sessions once none idles in a transaction, or those of the last look: a slow machine tidies up late."""
        sessions: list[Session] = []
        with trio.move_on_after(TIDY_WITHIN):
            while True:
                await trio.sleep(1.5)  # connections that broke are noticed by then
                sessions = [Session(*row) for row in await blocking(lambda: self._server.query(SESSIONS))]
                if all(session.idle_in_transaction <= LONGEST_IDLE for session in sessions):
                    break
        return sessions

    async def _until_ready(self, workers: int) -> None:
        """Until all workers have looked for work."""
        with trio.fail_after(READY_WITHIN):
            while True:
                [(ready,)] = await blocking(
                    lambda: self._server.query("select count(*) from leasehold.workers where idle")
                )
                if ready == workers:
                    return
                await trio.sleep(0.1)


def health(member: Member, pid: int) -> Health:
    """Whether it went when it was asked to, and what its log says."""
    code = member.exit_code
    went = {0, -SIGTERM}  # the second: it had only just begun, and did not listen yet
    if member.hangs:
        went.add(1)  # as a process ends that has something in it which cannot be interrupted
    return Health(member.name, pid, None if code in went else code or 0, member.complaints())
