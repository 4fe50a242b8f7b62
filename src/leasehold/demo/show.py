"""One demo from start to end, the acts in their order, and the end that a signal makes."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import trio

from leasehold.database import Database, open_database
from leasehold.database.migrations import migrate
from leasehold.database.programs import never
from leasehold.demo.observer import Observer, RunProgress, WorkerProgress
from leasehold.demo.place import DemoFailed, Place, open_place
from leasehold.demo.stage import Scene, Stage, WorkerProcess
from leasehold.demo.stdlib_census.handlers import Interpreter, Troubles
from leasehold.demo.stdlib_census.measures import FileMeasures, count_plainly
from leasehold.demo.stdlib_census.report import MARKDOWN_NAME, read_report
from leasehold.demo.stdlib_census.sources import standard_library
from leasehold.demo.summary import DemoReport, Findings, judge, pickup_of, span_of
from leasehold.demo.troupe import (
    DRAIN_SECONDS,
    LEASE_SECONDS,
    HttpProducer,
    Player,
    Troupe,
    free_port,
    open_troupe,
    plan_environment,
)
from leasehold.errors import LeaseholdError
from leasehold.settings import Settings

WORKERS = ("worker.1", "worker.2", "worker.3")
KNOCKS = 50
TROUBLES = Troubles(slow_files=6, slow_seconds=3.0, stumbles=2)
# The job that the killed worker must be found running takes at least so much longer than finding it.
SAFE_SECONDS = 0.7
LOOK_SECONDS = 0.1
PATIENCE_SECONDS = 45.0
ENQUEUE_BY_SQL = "select leasehold.enqueue_job('census.describe', queue => $1)"

Condition = Callable[[RunProgress], Awaitable[bool]]

CLEAN_UP_SECONDS = 10.0


async def run_demo(
    settings: Settings, stage: Stage, keep: Path | None = None, hurries: Callable[[], bool] = never
) -> DemoReport:
    """Run the demo on the configured database, or on embedded Postgres in a folder that is removed afterwards.

    `keep` is a file for the report of the census, which else is removed with all the rest; the logs stay if something went
    wrong. Cancelled, it ends early and leaves no process behind; `hurries` tells that it is about to be. After SIGKILL the
    actors end by themselves, but embedded Postgres and the folder are left.

    Raises:
        DemoFailed: a process ended or nothing happened for too long. Others as `embedded_postgres` and `migrate`.
    """
    try:
        return await _give(settings, stage, keep, hurries)
    finally:
        if trio.current_effective_deadline() == float("-inf"):
            stage.say("interrupted; all processes have ended")
        stage.close()


async def _give(settings: Settings, stage: Stage, keep: Path | None, hurries: Callable[[], bool]) -> DemoReport:
    run = secrets.token_hex(2)
    stage.say(f"leasehold demo, run {run}: a census of the Python standard library")
    async with open_place(settings, hurries) as place:
        await migrate(place.dsn)
        stage.say(f"Postgres is ready: {place.description}")
        async with (
            open_troupe(place.folder / "logs") as troupe,
            open_database(place.dsn, pool_size=1, application_name="leasehold demo") as database,
        ):
            show = Show(run, place, troupe, database, stage)
            try:
                report = await show.perform(settings.gateway_token)
            except BaseException as error:
                if isinstance(error, Exception):
                    _keep_logs(place, stage)
                await _clean_up(show, place, stage)
                raise
            if not report.passed:
                _keep_logs(place, stage)
            return _take_report(report, keep)


def _keep_logs(place: Place, stage: Stage) -> None:
    place.keeps_logs = True
    stage.say(f"the logs of all processes are in {place.folder}")


def _take_report(report: DemoReport, keep: Path | None) -> DemoReport:
    """The census's report out of the folder that goes, to where it was asked for."""
    if keep is not None and report.report is not None:
        shutil.copyfile(report.report, keep)
    return msgspec.structs.replace(report, report=str(keep) if keep is not None else None)


async def _clean_up(show: Show, place: Place, stage: Stage) -> None:
    if place.is_own_database:
        return
    with trio.move_on_after(CLEAN_UP_SECONDS) as scope:
        scope.shield = True
        try:
            await show.cancel_rest()
        except LeaseholdError as error:
            stage.say(f"the jobs that had not ended could not be cancelled: {error}")
    if scope.cancelled_caught:
        stage.say(f"the jobs that had not ended could not be cancelled within {CLEAN_UP_SECONDS:g} s")


class Show:
    """One performance, given once."""

    def __init__(self, run: str, place: Place, troupe: Troupe, database: Database, stage: Stage) -> None:
        self._run = run
        self._queue = f"demo-{run}"
        self._place = place
        self._troupe = troupe
        self._database = database
        self._stage = stage
        self._observer = Observer(database, self._queue)
        self._acknowledged: list[int] = []
        self._files_since = self._files_until = time.monotonic()

    async def perform(self, token: str | None) -> DemoReport:
        """All acts. Raises DemoFailed when one cannot be given; what is found wrong at the end is in the report."""
        producer = await self._raise_curtain(token)
        await self._knock(producer)
        await self._begin_census(producer)
        victim, killed_at = await self._kill_one()
        progress = await self._finish_census(victim)
        ended_badly = await self._troupe.stop(DRAIN_SECONDS)
        self._stage.show(self._scene(progress))
        plain, plain_seconds = await self._count_plainly()
        jobs = await self._observer.jobs()
        found = Findings(
            jobs=jobs,
            acknowledged=self._acknowledged,
            retries=progress.attempts_failed,
            stumbles=TROUBLES.stumbles,
            victim=victim.name,
            killed_at=killed_at,
            lease_seconds=LEASE_SECONDS,
            recovered=await self._observer.recovered(victim.name),
            plain=plain,
            reported=read_report(self._place.folder).files,
            ended_badly=ended_badly,
        )
        return self._report(found, plain_seconds)

    async def cancel_rest(self) -> None:
        """Leave nothing behind that waits for workers of ours."""
        await self._observer.cancel_rest()

    async def _raise_curtain(self, token: str | None) -> HttpProducer:
        port = free_port()
        environ = plan_environment(self._place.dsn, self._queue, port)
        for name in ("gateway", "scheduler", "reaper", *WORKERS):
            await self._troupe.start(name, environ)
        producer = HttpProducer(port, token)

        async def are_ready() -> bool:
            return await producer.is_ready() and await self._observer.ready_workers(WORKERS) == len(WORKERS)

        await self._until("the processes to be ready", are_ready)
        self._stage.say(f"gateway, scheduler, reaper and {len(WORKERS)} workers run, each in its own process")
        self._stage.say(f"their dashboard, as long as they run: {producer.dashboard}")
        return producer

    async def _knock(self, producer: HttpProducer) -> None:
        """Jobs for idle workers: how long until they start?"""
        ids = await producer.enqueue_in_turn({"kind": "census.knock", "queue": self._queue}, KNOCKS)
        self._acknowledged += ids
        self._observer.first_id = min(ids)
        self._stage.say(f"{KNOCKS} small jobs, each when the last had ended: POST {producer.url}")

    async def _begin_census(self, producer: HttpProducer) -> None:
        args = {"run": self._run, "folder": str(self._place.folder), "troubles": TROUBLES}
        job = {"kind": "census.discover", "queue": self._queue, "args": args}
        self._acknowledged.append(await producer.enqueue(job))
        self._stage.say("the census begins: census.discover, over HTTP, too")
        rows = await self._database.fetch(ENQUEUE_BY_SQL, self._queue)
        self._acknowledged.append(rows[0][0])
        self._stage.say("plain SQL: " + ENQUEUE_BY_SQL.replace("$1", f"'{self._queue}'"))

        async def has_files(progress: RunProgress) -> bool:
            return progress.files > 0

        progress = await self._watch_until("the fan-out", has_files)
        self._stage.say(f"census.discover has listed the files and fanned out {progress.files} jobs")

    async def _kill_one(self) -> tuple[Player, datetime]:
        victim = ""

        async def has_stumbled(progress: RunProgress) -> bool:
            return progress.attempts_failed >= TROUBLES.stumbles

        async def is_busy(progress: RunProgress) -> bool:
            nonlocal victim
            if progress.has_report:
                raise DemoFailed("the census was over before a worker could be killed at work")
            victim = await self._observer.busy_worker(SAFE_SECONDS) or ""
            return bool(victim)

        progress = await self._watch_until("a handler to fail on purpose", has_stumbled)
        self._stage.say(f"one handler has failed {progress.attempts_failed} times on purpose and is tried again")
        await self._watch_until("a worker in the middle of a job", is_busy)
        player = self._troupe.players[victim]
        await player.kill()
        killed_at = await self._observer.now()
        self._stage.say(f"SIGKILL to {victim} (pid {player.process.pid}) in the middle of its jobs")
        return player, killed_at

    async def _finish_census(self, victim: Player) -> RunProgress:
        killed = time.monotonic()

        async def is_released(progress: RunProgress) -> bool:
            return progress.workers.get(victim.name, WorkerProgress()).held == 0

        async def has_report(progress: RunProgress) -> bool:
            return progress.has_report

        progress = await self._watch_until("the reaper to take back the dead worker's jobs", is_released)
        span = time.monotonic() - killed
        self._stage.say(f"the reaper has taken back {progress.reaped} jobs, {span:.1f} s after the kill")
        progress = await self._watch_until("the report", has_report)
        self._stage.say(f"all {progress.files} files are measured and the report is written")
        return progress

    async def _count_plainly(self) -> tuple[dict[str, FileMeasures], float]:
        self._stage.say("counting the same files once more, in one plain process")
        began = time.monotonic()
        plain = await trio.to_thread.run_sync(count_plainly, standard_library(), abandon_on_cancel=True)
        return plain, time.monotonic() - began

    async def _watch_until(self, what: str, condition: Condition) -> RunProgress:
        """Show how it goes until the condition holds."""
        progress = RunProgress()

        async def holds() -> bool:
            nonlocal progress
            progress = await self._observer.progress()
            self._stage.show(self._scene(progress))
            return await condition(progress)

        await self._until(what, holds)
        return progress

    async def _until(self, what: str, holds: Callable[[], Awaitable[bool]]) -> None:
        with trio.move_on_after(PATIENCE_SECONDS):
            while not await holds():
                self._troupe.check()
                await trio.sleep(LOOK_SECONDS)
            return
        raise DemoFailed(f"waited {PATIENCE_SECONDS:g} s in vain for {what}")

    def _scene(self, progress: RunProgress) -> Scene:
        now = time.monotonic()
        if not progress.files:
            self._files_since = now
        if progress.files_done < progress.files:
            self._files_until = now
        seconds = self._files_until - self._files_since
        return Scene(
            progress=progress,
            workers=tuple(WorkerProcess(each.name, each.process.pid, each.state) for each in self._troupe.workers),
            files_per_second=progress.files_done / seconds if seconds > 0 else 0.0,
        )

    def _report(self, found: Findings, plain_seconds: float) -> DemoReport:
        checks = judge(found)
        census = [job for job in found.jobs if job.kind != "census.knock"]
        completed = [job for job in found.jobs if job.state == "completed"]
        census_seconds = span_of(census)
        report = read_report(Path(self._place.folder))
        return DemoReport(
            passed=all(check.passed for check in checks),
            checks=checks,
            run=self._run,
            interpreter=_output_of(completed, "census.describe"),
            workers=len(WORKERS),
            jobs=len(completed),
            jobs_per_second=len(census) / census_seconds if census_seconds else 0.0,
            census_seconds=census_seconds,
            plain_seconds=plain_seconds,
            pickup=pickup_of([job for job in found.jobs if job.kind == "census.knock"]),
            backlog=pickup_of(found.measured),
            retries=found.retries,
            recovery=found.recovery,
            lost=found.lost,
            totals=report.totals,
            report=str(self._place.folder / MARKDOWN_NAME),
            seconds=self._stage.seconds,
        )


def _output_of(jobs: list[Any], kind: str) -> Interpreter | None:
    outputs = [job.output for job in jobs if job.kind == kind and job.output]
    return msgspec.json.decode(outputs[0], type=Interpreter) if outputs else None
