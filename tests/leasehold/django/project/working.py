"""A worker that runs what is due, as the test says."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import trio

from leasehold.database import open_database
from leasehold.django.project import backend_to_serve
from leasehold.django.worker import make_app
from leasehold.testing.kit import Runner
from tests.leasehold.django.project.place import dsn

MOST = 100


def run_due(most: int = MOST) -> list[int]:
    """Run all jobs that are due, and those that become due by it, one by one; returns their ids."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(trio.run, _run_due, most).result()


async def _run_due(most: int) -> list[int]:
    done: list[int] = []
    async with open_database(dsn()) as database:
        runner = Runner(database, make_app(backend_to_serve()))
        while len(done) < most and (job_id := await runner.run_next([])) is not None:
            done.append(job_id)
    return done


if __name__ == "__main__":
    import django

    django.setup()
    run_due()
