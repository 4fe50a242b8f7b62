"""One demo from start to end, the acts in their order, and the end that a signal makes."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import trio

from leasehold.client import Client, open_client
from leasehold.database.migrations import migrate
from leasehold.database.programs import never
from leasehold.demo.place import Place, open_place
from leasehold.demo.run import SLOW_FILES, STUMBLES, CensusRun
from leasehold.demo.stage import Stage
from leasehold.demo.stdlib_census.handlers import Troubles
from leasehold.demo.stdlib_census.measures import count_plainly
from leasehold.demo.stdlib_census.report import MARKDOWN_NAME, read_report
from leasehold.demo.stdlib_census.sources import standard_library
from leasehold.demo.summary import DemoReport, make_report
from leasehold.demo.troupe import ANSWER_SECONDS, DRAIN_SECONDS, Troupe, open_troupe, plan_environment, post_job
from leasehold.errors import LeaseholdError
from leasehold.settings import Settings

T = TypeVar("T")

WORKERS = ("worker.1", "worker.2", "worker.3")
KNOCKS = 50
STATEMENT_SECONDS = 10.0
ENQUEUE_BY_SQL = "select leasehold.enqueue_job('census.describe', queue => $1)"


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
    name = secrets.token_hex(2)
    run = CensusRun(name=name, queue=f"demo-{name}")
    stage.say(f"leasehold demo, run {name}: a census of the Python standard library")
    try:
        async with open_place(settings, hurries) as place:
            await migrate(place.dsn)
            stage.say(f"Postgres is ready: {place.description}")
            async with (
                open_troupe(place.folder / "logs") as troupe,
                open_client(place.dsn, pool_size=1, timeout=STATEMENT_SECONDS) as client,
            ):
                return await Show(run, place, troupe, client, stage, settings.gateway_token).give(keep)
    finally:
        if trio.current_effective_deadline() == float("-inf"):
            stage.say("interrupted; all processes have ended")
        stage.close()


class Show(msgspec.Struct):
    """One performance, given once."""

    run: CensusRun
    place: Place
    troupe: Troupe
    client: Client
    stage: Stage
    token: str | None
    url: str = ""

    async def give(self, keep: Path | None) -> DemoReport:
        """All acts. Raises DemoFailed when one cannot be given; what is found wrong at the end is in the report."""
        try:
            for act in (self._raise_curtain, self._knock, self._begin_census, self._kill_one, self._finish_census):
                await act()
            report = await self._add_up(keep)
            self.place.keeps_logs = not report.passed
            return report
        except BaseException as error:
            self.place.keeps_logs = isinstance(error, Exception)
            with trio.CancelScope(shield=True):  # leave nothing behind that waits for workers of ours
                try:
                    await self.client.jobs.cancel_all(queue=self.run.queue, dry_run=False)
                except LeaseholdError as refusal:
                    self.stage.say(f"the jobs that had not ended could not be cancelled: {refusal}")
            raise
        finally:
            if self.place.keeps_logs:
                self.stage.say(f"the logs of all processes are in {self.place.folder}")

    async def _raise_curtain(self) -> None:
        environ = plan_environment(self.place.dsn, self.place.direct_dsn, self.run.queue)
        for name in ("gateway", "scheduler", "reaper", *WORKERS):
            await self.troupe.start(name, environ)

        async def url_when_ready() -> str | None:
            ready = {each.worker_id for each in await self.client.workers.list() if each.state == "ready"}
            return await self.troupe.gateway_url() if ready >= {*WORKERS} else None

        self.url = await self.troupe.until("the processes to be ready", url_when_ready) or ""
        self.stage.say(f"gateway, scheduler, reaper and {len(WORKERS)} workers run, each in its own process")
        self.stage.say(f"their dashboard, as long as they run: {self.url}/")

    async def _knock(self) -> None:
        """Jobs for idle workers: how long until they start?"""
        for _ in range(KNOCKS):
            await self.client.wait(await self._post("census.knock"), timeout=ANSWER_SECONDS)
        self.stage.say(f"{KNOCKS} small jobs, each when the last had ended: POST {self.url}/api/jobs")

    @property
    def _cue(self) -> Path:
        """Slow jobs wait for this file, so that a worker is in the middle of one when it is killed."""
        return self.place.folder / "cue"

    async def _begin_census(self) -> None:
        troubles = Troubles(slow_files=SLOW_FILES, cue=str(self._cue), stumbles=STUMBLES)
        await self._post("census.discover", run=self.run.name, folder=str(self.place.folder), troubles=troubles)
        self.stage.say("the census begins: census.discover, over HTTP, too")
        async with self.client.transaction() as tx:
            rows = await tx.fetch(ENQUEUE_BY_SQL, self.run.queue)
        self.run.acknowledged.append(rows[0][0])
        self.stage.say("plain SQL: " + ENQUEUE_BY_SQL.replace("$1", f"'{self.run.queue}'"))
        files = await self._watch_until("the fan-out", lambda: self.run.of_kind("measure"))
        self.stage.say(f"census.discover has listed the files and fanned out {len(files)} jobs")

    async def _kill_one(self) -> None:
        run = self.run
        await self._watch_until("a handler to fail on purpose", lambda: run.retries >= STUMBLES)
        self.stage.say(f"one handler has failed {run.retries} times on purpose and is tried again")
        run.victim = await self._watch_until("a worker in the middle of a job", run.busy_worker) or ""
        player = self.troupe.players[run.victim]
        await player.kill()
        self._cue.touch()
        await run.look(self.client, [])
        run.killed_at = run.seen_at
        self.stage.say(f"SIGKILL to {run.victim} (pid {player.process.pid}) in the middle of its jobs")

    async def _finish_census(self) -> None:
        run, killed = self.run, time.monotonic()
        await self._watch_until("the reaper to take back the dead worker's jobs", lambda: not run.held_by(run.victim))
        span = time.monotonic() - killed
        self.stage.say(f"the reaper has taken back {len(run.taken_back)} jobs, {span:.1f} s after the kill")
        await self._watch_until("the report", lambda: run.ended("report"))
        self.stage.say(f"all {len(run.ended('measure'))} files are measured and the report is written")

    async def _add_up(self, keep: Path | None) -> DemoReport:
        run = self.run
        run.ended_badly = await self.troupe.stop(DRAIN_SECONDS)
        await run.look(self.client)
        self.stage.show(run, self.troupe.workers)
        self.stage.say("counting the same files once more, in one plain process")
        began = time.monotonic()
        run.plain = await trio.to_thread.run_sync(count_plainly, standard_library(), abandon_on_cancel=True)
        run.plain_seconds = time.monotonic() - began
        run.reported = read_report(self.place.folder).files
        if keep is not None:
            shutil.copyfile(self.place.folder / MARKDOWN_NAME, keep)
        return make_report(run, len(WORKERS), keep, self.stage.seconds)

    async def _post(self, kind: str, **args: Any) -> int:
        """Enqueue over HTTP; returns the id."""
        job = {"kind": kind, "queue": self.run.queue, "args": args}
        job_id = await trio.to_thread.run_sync(post_job, self.url, self.token, job)
        self.run.acknowledged.append(job_id)
        return job_id

    async def _watch_until(self, what: str, answer: Callable[[], T]) -> T:
        """Show how it goes until there is an answer."""

        async def look() -> T:
            await self.run.look(self.client, ["args"])
            self.stage.show(self.run, self.troupe.workers)
            return answer()

        return await self.troupe.until(what, look)
