"""Steps of a migration that never hold others up for a second: a step that is in the way gives way and tries again.

A step is a transaction. It waits for a lock for less than a second, because whoever wants the same table waits behind it. A
watch on a second connection looks whether anybody waits for the step, whatever it holds; then it is undone, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec
import trio

from leasehold.database.migrations.catalogue import PREAMBLE
from leasehold.database.migrations.statements import LONGEST_STATEMENT, named, sqlstate_of
from leasehold.errors import DatabaseUnavailable, LeaseholdError

if TYPE_CHECKING:
    from leasehold.database import Database, Transaction

T = TypeVar("T")
Work = Callable[["Transaction"], Awaitable[T]]

PATIENCE = 300.0  # seconds over all tries of one step
LOCK_SECONDS = 0.8  # that a step waits for a lock
CROWD_SECONDS = 0.4  # that somebody else may wait for a step
LOOK_SECONDS = 0.1
LONGEST_PAUSE = 5.0
GIVES_WAY = {"55P03", "40P01"}  # lock timeout, deadlock
# Autovacuum yields to whoever has waited for deadlock_timeout, which is a second by default.
BRIEFLY = f"""
set local lock_timeout = '{LOCK_SECONDS}s';
do $$ begin perform set_config('deadlock_timeout', '200ms', true); exception when insufficient_privilege then null; end $$;
"""

# Who keeps the session $1 waiting, and who has waited for it for $2 seconds.
WAITS = r"""
with waits as (
    select b.pid, true as holds from unnest(pg_blocking_pids($1)) b(pid)
    union
    select l.pid, false from pg_locks l
     where not l.granted and l.pid <> $1 and l.waitstart < clock_timestamp() - make_interval(secs => $2)
       and $1 = any (pg_blocking_pids(l.pid))
), wanted as (
    select coalesce(l.relation::regclass::text, l.locktype) as what from pg_locks l where l.pid = $1 and not l.granted limit 1
)
select w.holds, (select what from wanted) as what,
       case when w.pid = 0 then 'a prepared transaction'
            else concat_ws(', ', format('session %s (%s', w.pid, coalesce(nullif(a.application_name, ''), a.backend_type, '?')),
                           'user ' || a.usename, a.state,
                           format('in a transaction for %s s', round(extract(epoch from clock_timestamp() - a.xact_start))))
                 || coalesce(': ' || left(regexp_replace(nullif(a.query, ''), '\s+', ' ', 'g'), 80), '') || ')' end as who
  from waits w left join pg_stat_activity a on a.pid = w.pid order by w.pid
"""


class StepResult(msgspec.Struct, Generic[T]):
    """Of one try. Without `value` it gave way, for this `reason`."""

    value: tuple[T] | None = None
    reason: str = ""


class StepWatch:
    """Looks who keeps a step waiting and whom it keeps waiting; ends it where somebody has waited for too long."""

    def __init__(self, database: Database, pid: int, scope: trio.CancelScope) -> None:
        self._database = database
        self._pid = pid
        self._scope = scope
        self.holders = ""
        self.crowd = ""
        self.error: LeaseholdError | None = None

    async def run(self) -> None:
        """Look until cancelled."""
        while not self.crowd and self.error is None:
            await trio.sleep(LOOK_SECONDS)
            try:
                rows = await self._database.fetch(WAITS, self._pid, CROWD_SECONDS)
            except LeaseholdError as error:
                self.error = error
                break
            if held := [row["who"] for row in rows if row["holds"]]:
                self.holders = f"waits for {rows[0]['what'] or 'a lock'}, which {' and '.join(held)} has locked"
            self.crowd = " and ".join(row["who"] for row in rows if not row["holds"])
        self._scope.cancel()


class Steps:
    """Runs steps one after the other, each until it is done.

    Args:
        database: with two connections at least.
        say: gets a line each time a step has to give way for another reason.
        patience: seconds for all tries of one step.
    """

    def __init__(self, database: Database, say: Callable[[str], None], patience: float = PATIENCE) -> None:
        self.database = database
        self.say = say
        self._patience = patience

    async def run(self, title: str, work: Work[T]) -> T:
        """The answer of `work`, once its transaction has committed. A try that gave way has changed nothing.

        Raises:
            DatabaseUnavailable: the patience is over; the message says who was in the way.
            QueryRefused: Postgres refuses.
        """
        until = trio.current_time() + self._patience
        told, outcome = "", StepResult[T]()
        for pause in pauses():
            outcome = await self._attempt(work)
            if outcome.value is not None:
                return outcome.value[0]
            if trio.current_time() + pause > until:
                break
            if outcome.reason != told:
                told = outcome.reason
                self.say(f"{title} {told}; trying again")
            await trio.sleep(pause)
        raise DatabaseUnavailable(
            f"{title} {outcome.reason}: not applied within {self._patience:g} s, and it changed nothing; "
            "run `leasehold migrate` again when that has ended"
        )

    async def _attempt(self, work: Work[T]) -> StepResult[T]:
        outcome = StepResult[T]()
        raised: BaseException | None = None
        try:
            async with trio.open_nursery() as nursery:
                try:
                    outcome = await self._watched(work, nursery)
                except BaseException as error:
                    raised = error
                    raise
                nursery.cancel_scope.cancel()
        except BaseExceptionGroup:
            if raised is None:
                raise
        if raised is not None:
            raise raised
        return outcome

    async def _watched(self, work: Work[T], nursery: trio.Nursery) -> StepResult[T]:
        watch: StepWatch | None = None
        with trio.CancelScope() as scope:
            try:
                async with self.database.transaction() as session:
                    await session.execute(PREAMBLE, timeout=LONGEST_STATEMENT)
                    [row] = await session.fetch("select pg_backend_pid() as pid")
                    watch = StepWatch(self.database, row["pid"], scope)
                    nursery.start_soon(watch.run)
                    await session.execute(BRIEFLY)
                    value = await work(session)
                return StepResult(value=(value,))
            except LeaseholdError as error:
                if sqlstate_of(error) not in GIVES_WAY:
                    raise
                return StepResult(reason=(watch and watch.holders) or f"did not get a lock in time ({error})")
        assert watch is not None
        if watch.error is not None:
            raise named("the migration", watch.error) from watch.error
        return StepResult(reason=watch.holders or f"gave way, because {watch.crowd} waited for it")


def pauses() -> Iterator[float]:
    """Seconds between tries: long enough for those who waited, soon short against what holds a lock for long."""
    return itertools.chain((0.2, 0.5, 1.0, 2.0), itertools.repeat(LONGEST_PAUSE))
