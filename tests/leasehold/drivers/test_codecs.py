"""Connections of callers that encode and decode values themselves: each call of the client means what it does on ours."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks.connections import Undone
from leasehold import Client, NewJob, Unique, open_client
from tests.support.codecs import CODECS
from tests.support.flavours import under_asyncio

TEXT = '"5"'  # as JSON the text "5", which is JSON again, as 5
Operation = Callable[[Client, Any], Awaitable[object]]


async def enqueue(client: Client, connection: Any) -> object:
    at = datetime(2050, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)
    made = await client.enqueue(
        "echo", {"text": TEXT}, metadata={"by": "5"}, run_at=at, deadline=timedelta(days=9_999), connection=connection
    )
    job = await client.jobs.lock(made, connection=connection)
    return job.args, job.metadata, job.run_at


async def enqueue_for_a_key(client: Client, connection: Any) -> object:
    job: NewJob[Any] = NewJob(kind="echo", args={"n": "5"}, key="5", idempotency_key="5", unique=Unique(by=["kind"]))
    twice = [await client.enqueue_with_outcomes([job], connection=connection) for _ in range(2)]
    return [[each.outcome for each in made] for made in twice], await lock(client, connection, twice[0][0].job_id)


async def edit(client: Client, connection: Any) -> object:
    made = await client.enqueue("echo", {"text": "plain"}, delay=60, connection=connection)
    at = datetime(2050, 1, 2, 3, 4, 5, tzinfo=UTC)
    await client.jobs.edit(made, args={"text": TEXT}, run_at=at, metadata={"by": "5"}, connection=connection)
    job = await client.jobs.lock(made, connection=connection)
    return job.args, job.metadata, job.run_at


async def lock(client: Client, connection: Any, job_id: int) -> object:
    job = await client.jobs.lock(job_id, connection=connection)
    assert job.created_at.utcoffset() == timedelta(0)
    return job.args, job.output, job.metadata, job.error, job.state, job.key


def complete_with(output: Any) -> Operation:
    async def complete(client: Client, connection: Any) -> object:
        made = await client.enqueue("echo", connection=connection)
        await client.chains.complete(made, output, connection=connection)
        return await lock(client, connection, made)

    return complete


async def continue_with(client: Client, connection: Any) -> object:
    made = await client.enqueue("echo", connection=connection)
    new: NewJob[Any] = NewJob(kind="echo", args={"text": TEXT})
    [further] = await client.chains.complete(made, continue_with=new, connection=connection)
    return further - made, await lock(client, connection, further)


async def delete(client: Client, connection: Any) -> object:
    made = await client.enqueue("echo", connection=connection)
    return await client.jobs.delete(made, connection=connection)


async def save_payload(client: Client, connection: Any) -> object:
    saved = await client.payloads.save(b"5", kind="echo", metadata={"by": TEXT}, connection=connection)
    assert saved.created_at.utcoffset() == timedelta(0)
    return saved.sha256, saved.metadata, saved.size, saved.kind


OPERATIONS: Mapping[str, Operation] = {
    "enqueue": enqueue,
    "enqueue for a key": enqueue_for_a_key,
    "edit": edit,
    "complete with text": complete_with("5"),
    "complete with text of text": complete_with(TEXT),
    "complete with an object": complete_with({"text": TEXT}),
    "complete with nothing": complete_with(None),
    "complete with a number": complete_with(5),
    "continue": continue_with,
    "delete": delete,
    "save a payload": save_payload,
}


@pytest.mark.parametrize("name", CODECS)
@under_asyncio
async def test_every_call_on_it_means_what_it_means_on_a_connection_of_ours(
    database_url: str, name: str, tmp_path: Path
) -> None:
    async with open_client(database_url, payloads=str(tmp_path)) as client:
        expected: object = None
        for operation, run in OPERATIONS.items():
            with suppress(Undone):
                async with client.transaction() as ours:
                    expected = await run(client, ours)
                    raise Undone
            async with CODECS[name](database_url) as theirs:
                found = await run(client, theirs)
            assert (operation, found) == (operation, expected)
        written = await client.jobs.list()
        assert len(written) >= len(OPERATIONS) - 1
        async with CODECS[name](database_url) as theirs:  # what we read is what they read
            assert [await client.jobs.lock(job.id, connection=theirs) for job in written] == written
