"""Two versions of leasehold on one database: old workers on a new schema, a new worker on the old one, under load."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from leasehold.database.signatures import RELEASED
from leasehold.sql import read_text
from tests.support.fleet import Fleet
from tests.support.next_version import environment, make_next_version
from tests.support.processes import LeaseholdProcess, StartProcess
from tests.support.signatures import broken_calls, parse
from tests.support.waiting import eventually, until

pytestmark = pytest.mark.acceptance

CHARGED = "select id, attempt, spared_attempts from leasehold.finished_jobs where attempt - spared_attempts <> 1"
TROUBLE = ("does not exist", "cache lookup", "schema changed", "Traceback", "run `leasehold migrate`", "ERROR")


@pytest.fixture(scope="module")
def next_version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("next")
    make_next_version(folder)
    return folder


class Stream:
    """Jobs that keep coming: short ones, and some that need their lease renewed."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self.jobs: list[int] = []

    async def run(self) -> None:
        while True:
            self.jobs.append(await self._fleet.client.enqueue("quick"))
            if len(self.jobs) % 10 == 1:
                self.jobs.append(await self._fleet.client.enqueue("hold", {"seconds": 1.5}))
            await trio.sleep(0.05)

    async def goes_on(self) -> None:
        """Until jobs that came after this moment have completed, a long one among them."""
        here = len(self.jobs)
        await until(lambda: len(self.jobs) >= here + 12)
        for job in self.jobs[here : here + 12]:
            await self._fleet.job(job, "completed")

    async def has_ended(self) -> None:
        """Every job has completed once, in the only attempt that counts."""
        for job in self.jobs:
            await self._fleet.job(job, "completed")
        rows = await self._fleet.database.fetch(CHARGED)
        assert [tuple(row) for row in rows] == []
        assert await self._fleet.value("select count(*) - count(distinct id) from leasehold.finished_jobs") == 0


def calm(process: LeaseholdProcess) -> None:
    """It runs, and nothing troubled it."""
    assert process.exit_code is None
    assert not [word for word in TROUBLE if word in process.output], process.output[-3000:]


async def migrated(fleet: Fleet, start: StartProcess, folder: Path) -> None:
    """Migrate as the next version does."""
    process = start(["migrate"], {"LEASEHOLD_DATABASE_URL": fleet.database.dsn, **environment(folder)})
    assert await process.until_exit() == 0
    assert "0002_made_up" in process.output


def test_the_made_up_version_breaks_no_call_of_the_last_release(next_version: Path) -> None:
    current = (next_version / "leasehold" / "sql" / "signatures.txt").read_text()
    assert broken_calls(parse(read_text(RELEASED)), parse(current)) == []


async def test_old_workers_go_on_while_the_schema_is_migrated_under_them_and_beside_new_ones(
    fleet: Fleet, start_process: StartProcess, next_version: Path
) -> None:
    old = [await fleet.worker(f"old {number}") for number in range(2)]
    upkeep = fleet.run("reaper", "scheduler")
    stream = Stream(fleet)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stream.run)
        await stream.goes_on()
        await migrated(fleet, start_process, next_version)
        await stream.goes_on()
        new = await fleet.worker("new", **environment(next_version))
        await eventually(lambda: fleet.database.fetch("select from leasehold.hints where hint = 'new'"))
        await stream.goes_on()
        nursery.cancel_scope.cancel()
    await stream.has_ended()
    for process in (*old, new, upkeep):
        calm(process)
    aside = (
        "select proname::text from pg_proc where pronamespace = 'leasehold'::regnamespace and proname like '%aside%'"
    )
    assert await fleet.database.fetch(aside) == []


async def test_a_new_worker_works_on_the_old_schema_says_what_it_does_without_and_goes_on_after_the_migration(
    fleet: Fleet, start_process: StartProcess, next_version: Path
) -> None:
    new = await fleet.worker("new", **environment(next_version))
    said = await new.until_line("of the release before")
    assert "the schema is at version 1" in said
    assert "claim_jobs without hint, renew_leases without epoch" in said
    stream = Stream(fleet)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stream.run)
        await stream.goes_on()
        await migrated(fleet, start_process, next_version)
        await stream.goes_on()
        nursery.cancel_scope.cancel()
    await stream.has_ended()
    calm(new)
