"""The kinds of jobs of the census."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from leasehold import App, Client, Job, NewJob, Reschedule, RetryPolicy, checkpoint
from leasehold.database import Database, open_database
from leasehold.settings import load_settings

from .measures import FileMeasures, Totals, measure, total
from .report import CensusReport, write_report
from .sources import find_sources, standard_library

app = App()

LOOK_AGAIN_SECONDS = 0.5
MEASURED = """
select j.args ->> 'file' as file, j.state, j.output::text as output
  from leasehold.all_jobs j
 where j.id > $1 and j.kind = 'census.measure' and j.metadata ->> 'run' = $2 and j.finished_at is not null
"""


class Troubles(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Failures on purpose, to show how they are handled.

    The first attempt of `slow_files` jobs, spread over the first half, waits until there is a file at `cue`; the first
    `stumbles` attempts of the first file's job fail.
    """

    slow_files: int = 0
    cue: str = ""
    stumbles: int = 0


class Interpreter(msgspec.Struct, frozen=True):
    """The Python that runs the workers."""

    python: str
    system: str
    processors: int | None


class Discovered(msgspec.Struct, frozen=True):
    """How many files there are, and how many of their jobs are new: fewer if an earlier attempt has enqueued some."""

    files: int
    new_jobs: int


@app.kind("census.knock")
async def knock() -> None:
    """Do nothing: shows how soon an idle worker starts a job."""


@app.kind("census.describe")
async def describe() -> Interpreter:
    """Return which Python runs the worker."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return Interpreter(python, platform.system(), os.cpu_count())


@app.kind("census.discover")
async def discover(
    job: Job,
    run: str,
    folder: str,
    root: str | None = None,
    troubles: Troubles = Troubles(),  # noqa: B008
) -> Discovered:
    """List the files below `root` (the standard library) and enqueue a job for each, and one for the report.

    Safe to run twice: the jobs carry idempotency keys made of `run` and the file.
    """
    place = Path(root) if root else standard_library()
    files = find_sources(place)
    jobs = [make_measure_job(run, place, file, number, len(files), troubles) for number, file in enumerate(files)]
    last = report.new(run=run, folder=folder, root=str(place), files=len(files), after_id=job.id)
    jobs.append(last.but(priority=-1, idempotency_key=f"census:{run}:report"))
    async with own_database() as database:
        made = await Client(database, app=app).enqueue_with_outcomes(
            [each.but(queue=job.queue, metadata={"run": run}) for each in jobs]
        )
    return Discovered(len(files), sum(each.is_new for each in made) - made[-1].is_new)


def make_measure_job(run: str, root: Path, file: str, number: int, files: int, troubles: Troubles) -> NewJob:
    """The job of file `number` of `files`, with its share of the troubles. The job that fails on purpose comes first."""
    step = files // (2 * troubles.slow_files) if troubles.slow_files else 0
    is_slow = step > 0 and number % step == step // 2 and number < files // 2
    made = measure_file.new(
        root=str(root),
        file=file,
        cue=troubles.cue if is_slow else "",
        stumbles=0 if number else troubles.stumbles,
    )
    return made.but(priority=0 if number else 1, idempotency_key=f"census:{run}:{file}")


@app.kind("census.measure", max_attempts=5, retry=RetryPolicy(initial=0.3, cap=5.0))
def measure_file(job: Job, root: str, file: str, cue: str = "", stumbles: int = 0) -> FileMeasures:
    """Measure one file. A plain function runs in a thread.

    `cue` (a file that the first attempt waits for) and `stumbles` (attempts that fail) are the troubles of this job.
    """
    if cue and job.attempt == 1:
        wait_for(Path(cue))
    if job.attempt <= stumbles:
        raise OSError(f"{file} cannot be read at attempt {job.attempt} (on purpose)")
    return measure(Path(root, file).read_bytes())


def wait_for(cue: Path) -> None:
    """Take time, like a slow disk, until there is this file, and end at once if the job is cancelled."""
    while not cue.exists():
        checkpoint()
        time.sleep(0.02)


@app.kind("census.report")
async def report(run: str, folder: str, root: str, files: int, after_id: int) -> Totals:
    """Write the report into `folder` when all `files` jobs enqueued after `after_id` have ended; until then, run again later."""
    async with own_database() as database:
        rows = await database.fetch(MEASURED, after_id, run)
    if len(rows) < files:
        raise Reschedule(LOOK_AGAIN_SECONDS, f"{len(rows)} of {files} files are done")
    measured = {
        str(row["file"]): msgspec.json.decode(row["output"], type=FileMeasures)
        for row in sorted(rows, key=lambda row: str(row["file"]))
        if row["state"] == "completed"
    }
    failed = tuple(sorted(str(row["file"]) for row in rows if row["state"] != "completed"))
    totals = total(measured.values())
    write_report(CensusReport(run=run, root=root, totals=totals, files=measured, failed=failed), Path(folder))
    return totals


@asynccontextmanager
async def own_database() -> AsyncGenerator[Database]:
    """The worker's database, from the environment or the settings file."""
    settings = load_settings({}, os.environ)
    async with open_database(settings.database_url or "", pool_size=1, application_name="stdlib census") as database:
        yield database
