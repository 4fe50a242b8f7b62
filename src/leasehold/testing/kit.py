"""What a test does with jobs: enqueue, look, run, move time, crash."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from time import monotonic
from typing import Any, TypeVar, Unpack, cast

import trio

from leasehold.actors.attempts.announcer import SILENT
from leasehold.actors.attempts.held_job import Backlog, HeldJob, Holdings
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.running.job_host import WorkerJobHost
from leasehold.actors.running.settlement import Settlement
from leasehold.actors.running.settler import Outcomes
from leasehold.actors.running.slot import Slot, SlotContext
from leasehold.actors.worker.hooks import started
from leasehold.app import App, FreeKind
from leasehold.app.registry import with_builtins
from leasehold.client import Client, open_client
from leasehold.database import Database, Row, open_database
from leasehold.errors import BadInput
from leasehold.jobs.kind import Kind
from leasehold.jobs.new_job import JobOptions, NewJob
from leasehold.records.jobs import ENDED, JobRecord
from leasehold.testing.crashes import Crashing, CrashPoint
from leasehold.testing.databases import TestDatabases, run_apart, until_alone

MOST_SHOWN = 10

T = TypeVar("T")

LEASE = timedelta(seconds=60)
HANDLER_CONNECTIONS = 5
MOST_DUE = 10_000

QUEUE = "leasehold.testing"
MOST_JOBS = 10_000
MOST_DAYS = 100
PAGE = 200
TRAVEL = "update leasehold_testing.travel set shift = shift + $1"


class Kit:
    """A database of its own, an app, and a worker that runs what it is told to.

    All methods block, and work the same in plain tests, under asyncio and under trio: what they do happens in a thread of its
    own. Handlers run there, too, one at a time.

    Attributes:
        url: the connection string of the test's database.
        app: whose handlers run; set it where the fixture `leasehold_app` does not.
    """

    def __init__(self, databases: TestDatabases, url: str, app: App) -> None:
        self._databases = databases
        self.url = url
        self.app = app

    def enqueue(self, job: NewJob[Any], **options: Unpack[JobOptions]) -> int:
        """Enqueue a job and return its id. Raises as `Client.enqueue`."""

        async def call(client: Client) -> int:
            return await client.enqueue(job, **options)

        return self._with_client(call)

    def get(self, job_id: int) -> JobRecord:
        """One job. Raises UnknownJob."""

        async def call(client: Client) -> JobRecord:
            return await client.get(job_id)

        return self._with_client(call)

    def jobs(self, kind: Kind[..., Any] | str | None = None) -> list[JobRecord]:
        """All jobs, or those of a kind, oldest first, whatever their state."""
        name = kind.name if isinstance(kind, Kind) else kind

        async def call(client: Client) -> list[JobRecord]:
            found = page = await client.jobs.list(kind=name, page_size=PAGE)
            while len(page) == PAGE:
                page = await client.jobs.list(kind=name, page_size=PAGE, before_id=page[-1].id)
                found = [*found, *page]
            return found

        return sorted(self._with_client(call), key=lambda job: job.id)

    def enqueued(
        self,
        kind: Kind[..., Any] | str,
        *,
        args: Mapping[str, Any] | None = None,
        times: int | None = None,
        **values: Any,
    ) -> list[JobRecord]:
        """Assert that jobs of this kind were enqueued, and return them.

        Args:
            kind: of the jobs.
            args: these args must be among theirs.
            times: so many jobs; None: at least one.
            values: further attributes of the job record, such as `queue` or `priority`.

        Raises:
            AssertionError: it shows the jobs that there are, and how the nearest ones differ.
        """
        name = kind.name if isinstance(kind, Kind) else kind
        return found_jobs(self.jobs(), name, args, times, values)

    def drain(self, *, most: int = MOST_JOBS) -> list[JobRecord]:
        """Run all due jobs, best first, one after the other, until none is due; return them as they then are.

        A failed job is due again after its back-off: `travel`, then drain again.

        Raises:
            AssertionError: `most` jobs have run: they seem to enqueue one another without end.
        """
        ran = self.run_due([], most)
        if len(ran) == most:
            raise AssertionError(
                f"{most} jobs have run, the last one of kind {self.get(ran[-1]).kind}; is there an end?"
            )
        return [self.get(each) for each in dict.fromkeys(ran)]

    def run(self, job: NewJob[Any]) -> JobRecord:
        """Enqueue this one job, run its handler once, and return the job as it then is. Other jobs stay as they are."""
        job_id = self.enqueue(job, queue=QUEUE)
        self.run_due([QUEUE], 1)
        return self.get(job_id)

    def travel(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        """Move the clock of the test's database, for everybody who is connected to it. Time goes on from there.

        Columns of your own tables that default to `now()` do not travel.
        """
        shift = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        self.fetch(TRAVEL, shift)

    def fetch(self, sql: str, *args: object) -> list[Row]:
        """Run one statement in the test's database and return its rows."""

        async def call(database: Database) -> list[Row]:
            return await database.fetch(sql, *args)

        return self._with_database(call)

    def crash_everywhere(self, job: NewJob[Any], *, check: Callable[[], object]) -> list[CrashPoint]:
        """Run the handler of a job once for each of its statements, and kill its process before that statement.

        Each time the database is as it was before the call; the process dies as by SIGKILL; the lease runs out; the job runs
        again, to its end; and `check` is called. What a handler does has to leave its process, into the database or a file, to
        be seen by `check`. Close connections to the test's database before: it is replaced each time.

        Args:
            job: its handler is killed.
            check: raises, or returns False, where something is wrong.

        Returns:
            Where it was killed.

        Raises:
            CrashFound: `check` failed for some of them; the message lists them.
            BadInput: the handler runs in a process of its own, or is one for any kind, as the default handler and tasks of Django.
        """
        kind = self.app.find(job.kind)
        if kind.runs == "process":
            raise BadInput(f"kind {kind.name} runs in a process of its own; crash_everywhere kills the others")
        if isinstance(kind, FreeKind):
            raise BadInput(
                f"{job.kind} has no handler of its own: crash_everywhere kills functions that @app.kind() registers"
            )
        name = self.url.partition("?")[0].rpartition("/")[2]
        crashing = Crashing(
            self._databases, name, kind,
            enqueue=lambda: self.enqueue(job), run=lambda: self.run_due([], 1), recover=self.recover, check=check,
        )  # fmt: skip
        return crashing.everywhere()

    def recover(self, job_id: int) -> None:
        """After a crash: let the lease run out, take the job back, and run all that is due until this job has finished.

        Raises:
            AssertionError: the job does not finish.
        """

        async def call(database: Database) -> None:
            await until_alone(database)
            for _ in range(MOST_DAYS):
                [row] = await database.call("get_job", job_id)
                if row["state"] in ENDED:
                    return
                await database.fetch(TRAVEL, timedelta(days=1))
                await database.call("reap_jobs", MOST_JOBS, None, timedelta())
                await self._run_due_over(database, [], MOST_JOBS)
            raise AssertionError(f"job {job_id} has not finished in {MOST_DAYS} days")

        self._with_database(call)

    def run_due(self, queues: list[str], most: int) -> list[int]:
        """Run due jobs of these queues, all if empty, at most so many; returns their ids in order."""
        return self._with_database(lambda database: self._run_due_over(database, queues, most))

    async def _run_due_over(self, database: Database, queues: list[str], most: int) -> list[int]:
        runner, ran = Runner(database, self.app), list[int]()
        async with started(self.app, runner.host.state), runner.host.open(database, HANDLER_CONNECTIONS):
            while len(ran) < most and (job_id := await runner.run_next(queues)) is not None:
                ran.append(job_id)
        return ran

    def _with_client(self, call: Callable[[Client], Awaitable[T]]) -> T:
        async def opened() -> T:
            async with open_client(self.url, app=self.app, pool_size=2, listens=False) as client:
                return await call(client)

        return run_apart(opened)

    def _with_database(self, call: Callable[[Database], Awaitable[T]]) -> T:
        async def opened() -> T:
            async with open_database(self.url, pool_size=3, application_name="leasehold testing") as database:
                return await call(database)

        return run_apart(opened)


class Runner:
    """A worker with one slot that only does what it is told. No lease is renewed: a handler has a minute."""

    def __init__(self, database: Database, app: App) -> None:
        self._database = database
        self._app = with_builtins(app)
        self._identity = WorkerIdentity("testing")
        self._holdings = Holdings()
        self._backlog, self._outcomes = Backlog(), Outcomes()
        self._backlog.close()
        self.host = WorkerJobHost(self._holdings, self._app)
        self._settlement = Settlement(database, self._identity, SILENT, self.host.progress_sink)
        context = SlotContext(
            self._identity,
            trio.CapacityLimiter(1),
            self._backlog,
            self._outcomes,
            self._app.middlewares_of,
            host=self.host,
            holdings=self._holdings,
        )
        self._slot = Slot(context)

    async def run_next(self, queues: list[str]) -> int | None:
        """Run the best due job of these queues (all if empty) and write its outcome; returns its id, None without one."""
        await self._database.call_value("make_jobs_due", MOST_DUE)
        rows = await self._database.call(
            "claim_jobs", self._identity.incarnation, "testing", queues, self._app.served_kinds, 1, LEASE
        )
        if not rows:
            return None
        kind = self._app.find(rows[0]["kind"])
        if kind.runs == "process":
            raise BadInput(f"kind {kind.name} runs in a process of its own, which the test kit does not start")
        held = HeldJob(rows[0], kind, monotonic(), LEASE.total_seconds(), self._identity.incarnation)
        self._holdings.add([held])
        self._backlog.extend([held])
        await self._slot.run()
        await self._settle()
        self._holdings.drop(held)
        return held.id

    async def _settle(self) -> None:
        batch = self._outcomes.first(len(self._outcomes))
        self._outcomes.remove(len(batch))
        while batch:
            batch = await self._settlement.write(batch)


def found_jobs(
    jobs: Sequence[JobRecord],
    kind: str,
    args: Mapping[str, Any] | None,
    times: int | None,
    values: Mapping[str, Any],
) -> list[JobRecord]:
    """The jobs that fit. Raises AssertionError where there is none, or not the number that is wanted."""
    fit = [job for job in jobs if job.kind == kind and not _differences(job, args, values)]
    if len(fit) == times or (times is None and fit):
        return fit
    raise AssertionError(_complaint(jobs, fit, kind, args, times, values))


def _differences(job: JobRecord, args: Mapping[str, Any] | None, values: Mapping[str, Any]) -> list[str]:
    """How a job differs from what is expected: `args.address: expected 'ada', found 'bob'`."""
    found = cast("Mapping[str, Any]", job.args or {})
    pairs = [(f"args.{name}", value, found.get(name, "nothing")) for name, value in (args or {}).items()]
    pairs += [(name, value, getattr(job, name)) for name, value in values.items()]
    return [f"{name}: expected {wanted!r}, found {is_!r}" for name, wanted, is_ in pairs if wanted != is_]


def _complaint(
    jobs: Sequence[JobRecord],
    fit: Sequence[JobRecord],
    kind: str,
    args: Mapping[str, Any] | None,
    times: int | None,
    values: Mapping[str, Any],
) -> str:
    wanted = "a job" if times is None else f"{times} job(s)"
    asked = "".join(
        f" {name}={value!r}" for name, value in {**({"args": dict(args)} if args else {}), **values}.items()
    )
    lines = [f"expected {wanted} of kind {kind}{asked}; there are {len(fit)}"]
    same = [job for job in jobs if job.kind == kind]
    for job in same[:MOST_SHOWN]:
        lines.append(f"  job {job.id} {job.state} {job.args}")
        lines += [f"    {each}" for each in _differences(job, args, values)]
    if not same:
        kinds = sorted({job.kind for job in jobs})
        lines.append(f"  kinds that were enqueued: {', '.join(kinds) or 'none'}")
    return "\n".join(lines)
