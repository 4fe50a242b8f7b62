from __future__ import annotations

import io
import json
import logging

from leasehold.client import Client
from leasehold.database import open_asyncio_database
from leasehold.observability.context import acting_as, answering, current_actor, request_fields
from leasehold.observability.logs import install_logging, uninstall_logging
from tests.gateway.fakes.running import run


def test_lines_of_a_request_carry_its_id_and_others_do_not() -> None:
    stream = io.StringIO()
    install_logging("info", "json", stream=stream)
    try:
        logging.getLogger("leasehold.test").info("before")
        with answering("request-1"):
            logging.getLogger("leasehold.test").info("within")
        logging.getLogger("leasehold.test").info("after")
    finally:
        uninstall_logging()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line.get("request_id") for line in lines] == [None, "request-1", None]


def test_outside_of_requests_nobody_acts() -> None:
    with answering("request-1"), acting_as("ops"):
        assert (request_fields(), current_actor()) == ({"request_id": "request-1"}, "ops")
    assert (request_fields(), current_actor()) == ({}, None)


def test_events_have_the_name_of_whoever_acts_and_the_next_user_of_the_connection_has_not(database_url: str) -> None:
    async def main() -> list[tuple[str, str | None]]:
        async with open_asyncio_database(database_url, pool_size=1) as database:
            ids = [await database.call_value("enqueue_job", "echo") for _ in range(2)]
            with acting_as("ops"):
                await database.call("edit_job", ids[0], priority=1)
            await database.call("edit_job", ids[1], priority=1)
            rows = await database.fetch("select event, actor from leasehold.job_events order by job_id")
            return [(row["event"], row["actor"]) for row in rows]

    assert run(main()) == [("edited", "ops"), ("edited", None)]


def test_the_timeline_tells_who_cancelled_and_who_retried(database_url: str) -> None:
    async def main() -> list[tuple[str, str | None]]:
        async with open_asyncio_database(database_url, pool_size=1) as database:
            client = Client(database)
            job_id = await client.enqueue("echo")
            with acting_as("ada"):
                await client.cancel(job_id)
            with acting_as("bob"):
                await client.retry(job_id)
            await client.jobs.cancel_all(job_ids=[job_id], dry_run=False)
            return [(entry.event, entry.actor) for entry in await client.jobs.timeline(job_id)]

    assert run(main()) == [("created", None), ("cancelled", "ada"), ("retried", "bob"), ("cancelled", None)]
