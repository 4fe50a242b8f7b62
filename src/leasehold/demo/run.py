"""One demo from start to end, and the end that a signal makes."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import trio

from leasehold.database import open_database
from leasehold.database.migrations import migrate
from leasehold.database.programs import never
from leasehold.demo.place import Place, open_place
from leasehold.demo.show import Show
from leasehold.demo.stage import Stage
from leasehold.demo.summary import DemoReport
from leasehold.demo.troupe import open_troupe
from leasehold.errors import LeaseholdError
from leasehold.settings import Settings

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
