"""Fires schedules: plans their ticks, makes their jobs when a tick is due, and sleeps exactly until the next one.

Before its first round it takes back stale jobs, and makes the schedules of the app known.

Any number may run. The SQL function `fire_schedules` decides which scheduler fires a tick, under the lock of the
schedule's row. All times are the database's.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import msgspec
import trio

from leasehold.actors.upkeep.due_jobs import wait_until_due
from leasehold.actors.upkeep.ticks import MOST_PER_FIRING, Due, Firing, Plan, decide, plan
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller, Database, Row, Transaction
from leasehold.errors import BadInput, DatabaseUnavailable, LeaseholdError
from leasehold.notify.channel import TickNotice
from leasehold.notify.switchboard import Switchboard
from leasehold.schedules.timetable import Timetable

log = logging.getLogger(__name__)

BATCH = 500
QUERIES_AT_ONCE = 4
ELSEWHERE_SECONDS = 1.0
HOPELESS_SECONDS = 60.0
MOST_POLL_SECONDS = 60.0
MARGIN_SECONDS = 5.0
MOST_LOSSES = 3
FIRING_SECONDS = 120.0


async def recover_stale(connection: Caller) -> None:
    """Take back the jobs whose lease has run out, and blame nobody: a new process cannot know which workers died.

    Raises DatabaseUnavailable.
    """
    await connection.call("reap_jobs", present_for=timedelta())


async def declare_schedules(connection: Caller, declared: Sequence[Mapping[str, Any]], declared_by: str | None) -> None:
    """Make the schedules of an app known. What operators changed stays as it is.

    Args:
        connection: to the database.
        declared: definitions of schedules.
        declared_by: the app that declares them, as module:attribute; None where there is none.

    Raises:
        DatabaseUnavailable: it did not answer.
    """
    for definition in declared:
        try:
            [row] = await connection.call(
                "declare_schedule", msgspec.json.encode(definition).decode(), "code", declared_by
            )
        except BadInput as error:
            log.warning("schedule %r of the app is refused: %s", definition.get("name"), error)
            continue
        if row["outcome"] == "foreign":
            log.warning(
                "schedule %r is declared by the app %s too, and is left as that declares it: give one of them another "
                "name; or, if %s is but a former name of %s, run select leasehold.orphan_schedules(%s, '{}') "
                "and start this again",
                row["name"],
                row["declared_by"],
                row["declared_by"],
                declared_by,
                literal(row["declared_by"]),
            )
        elif row["outcome"] != "unchanged":
            log.info("schedule %r of the app %s", row["name"], row["outcome"])
    if declared_by is not None:
        names = [str(definition["name"]) for definition in declared]
        for row in await connection.call("orphan_schedules", declared_by, names):
            log.warning("schedule %r is in the code no more; it goes on until somebody deletes it", row[0])


def literal(text: str) -> str:
    """The text as a string literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


class Scheduler:
    """Fires what is due until drained.

    Args:
        connection: a connection of its own.
        database: where the queries of schedules run, each in a transaction of its own.
        switchboard: `tick` notices wake it.
        poll_seconds: the longest sleep; it never sleeps for more than a minute.
        start_up: called once, before the first round.
    """

    name = "scheduler"

    def __init__(
        self,
        connection: Caller,
        database: Database,
        switchboard: Switchboard,
        poll_seconds: float,
        start_up: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self._connection = connection
        self._database = database
        self._poll_seconds = min(poll_seconds, MOST_POLL_SECONDS)
        self._start_up = start_up
        self._me = f"scheduler {socket.gethostname()}:{os.getpid()}"
        self._signal = Signal()
        self._draining = False
        self._timetables: dict[int, tuple[int, Timetable]] = {}
        # Schedules that this round is not to touch, until when (trio's clock): their query runs, here or elsewhere.
        self._busy: dict[int, float] = {}
        self._losses: dict[int, tuple[datetime, int]] = {}
        self._queries = trio.CapacityLimiter(QUERIES_AT_ONCE)
        switchboard.subscribe(TickNotice, lambda _: self._signal.set())
        switchboard.subscribe_reconnect(self._signal.set)

    def drain(self) -> None:
        """End after the present round; queries that still run are left to other schedulers."""
        self._draining = True
        self._signal.set()

    async def run(self) -> None:
        """Fire until drained. Raises DatabaseUnavailable."""
        self._busy.clear()
        if self._start_up is not None:
            await self._start_up()
            self._start_up = None
        async with trio.open_nursery() as nursery:
            while not self._draining:
                progress = await self._round(nursery)
                await self._signal.wait(await self._sleep_seconds(progress=progress))
            nursery.cancel_scope.cancel()

    async def _round(self, nursery: trio.Nursery) -> bool:
        """Plan and fire what there is; returns whether anything came of it."""
        plans: list[Plan] = []
        firings: list[Firing] = []
        for row in await self._connection.call("list_due_schedules", BATCH):
            due = Due(**{name: row[name] for name in Due.__struct_fields__})
            if self._busy.get(due.id, 0.0) > trio.current_time():
                continue
            self._busy.pop(due.id, None)
            try:
                step = self._next_step(due, row)
            except Exception as error:  # whatever is wrong with one schedule, the others go on
                step = self._hopeless(due, error)
            if isinstance(step, Plan):
                plans.append(step)
            elif step is not None and due.query is not None and step.fires:
                self._busy[due.id] = float("inf")
                nursery.start_soon(self._fire_rows, due, step)
            elif step is not None:
                firings.append(step)
        fired = [await self._fire(some) for some in portions(firings)]
        return await self._plan(plans) or any(fired)

    def _next_step(self, due: Due, row: Row) -> Plan | Firing | None:
        timetable = self._timetable(row)
        return decide(due, timetable) if due.is_planned else plan(due, timetable)

    def _hopeless(self, due: Due, error: Exception) -> Plan | None:
        """A schedule that cannot be planned shows the error until it changes. A due one is left to other schedulers."""
        if not due.is_planned:
            return Plan(id=due.id, revision=due.revision, next_run_at=None, error=str(error) or repr(error))
        log.error("schedule %r is due and this scheduler cannot tell its ticks: %s", due.name, error)
        self._busy[due.id] = trio.current_time() + HOPELESS_SECONDS
        return None

    def _timetable(self, row: Row) -> Timetable:
        revision, timetable = self._timetables.get(row["id"], (None, None))
        if timetable is None or revision != row["revision"]:
            timetable = Timetable.of(dict(row))
            self._timetables[row["id"]] = row["revision"], timetable
        return timetable

    async def _plan(self, plans: Sequence[Plan]) -> bool:
        for each in plans:
            if each.error is not None:
                log.warning("schedule %s has no next tick: %s", each.id, each.error)
        return bool(plans and await self._connection.call_value("plan_schedules", msgspec.json.encode(plans).decode()))

    async def _fire(self, firings: Sequence[Firing]) -> bool:
        """Fire them together or, where that is refused, one by one; one that is refused alone becomes a failed tick."""
        try:
            rows = await self._connection.call(
                "fire_schedules", msgspec.json.encode(firings).decode(), self._me, timeout=FIRING_SECONDS
            )
        except DatabaseUnavailable:
            raise
        except LeaseholdError as error:
            if len(firings) == 1 and not firings[0].fires:
                raise
            if len(firings) == 1:
                log.warning("schedule %s failed: %s", firings[0].id, error)
                return await self._fire([firings[0].failed(str(error))])
            return any([await self._fire([each]) for each in firings])
        return bool(rows)

    async def _fire_rows(self, due: Due, firing: Firing) -> None:
        """Run the query of a schedule and fire its rows. A query that fails affects this schedule alone."""
        until = 0.0
        try:
            async with self._queries, self._looking() as session:
                if await session.call_value("lock_schedule_query", due.id, firing.expected, due.query_timeout):
                    await self._fire([await self._with_rows(session, due, firing)])
                else:
                    until = trio.current_time() + ELSEWHERE_SECONDS
        except DatabaseUnavailable as error:
            log.warning("schedule %r could not fire, again in %s s: %s", due.name, ELSEWHERE_SECONDS, error)
            until = trio.current_time() + ELSEWHERE_SECONDS
        self._busy[due.id] = until
        self._signal.set()

    @asynccontextmanager
    async def _looking(self) -> AsyncGenerator[Transaction]:
        """A transaction that only holds the lock and reads. It is rolled back: there is nothing to commit."""
        session = await self._database.begin()
        try:
            yield session
        finally:
            await session.roll_back()

    async def _with_rows(self, session: Caller, due: Due, firing: Firing) -> Firing:
        try:
            rows = await session.call(
                "read_schedule_rows", due.query, due.query_rows, timeout=due.query_timeout + MARGIN_SECONDS
            )
        except LeaseholdError as error:
            if isinstance(error, DatabaseUnavailable) and self._may_try_again(firing):
                raise
            log.warning("schedule %r failed: %s", due.name, error)
            return firing.failed(str(error))
        return firing.with_rows([msgspec.Raw(row[0].encode()) for row in rows])

    def _may_try_again(self, firing: Firing) -> bool:
        """A connection may be lost for no fault of the query; one that loses it again and again is at fault."""
        expected, losses = self._losses.get(firing.id, (firing.expected, 0))
        losses = losses + 1 if expected == firing.expected else 1
        self._losses[firing.id] = firing.expected, losses
        return losses < MOST_LOSSES

    async def _sleep_seconds(self, *, progress: bool) -> float:
        now = trio.current_time()
        self._busy = {schedule: until for schedule, until in self._busy.items() if until > now}
        next_tick = await self._connection.call_value("next_tick_in", list(self._busy))
        wait = wait_until_due(next_tick, self._poll_seconds, progress=progress)
        return max(0.0, min([wait, *(until - now for until in self._busy.values())]))


def portions(firings: Sequence[Firing]) -> Iterator[list[Firing]]:
    """Split firings into lists of at most a thousand ticks, which fire within a second. A larger one has its own."""
    some: list[Firing] = []
    ticks = 0
    for firing in firings:
        if some and ticks + len(firing.ticks) > MOST_PER_FIRING:
            yield some
            some, ticks = [], 0
        some.append(firing)
        ticks += len(firing.ticks)
    if some:
        yield some
