from __future__ import annotations

import re
from pathlib import Path

import pytest

from leasehold import Client, Explanation, open_client
from leasehold.errors import UnknownJob
from leasehold.sql import read_folder
from tests.leasehold.client.conftest import with_client
from tests.leasehold.client.nouns.jobs.failing import failed_jobs


@with_client()
async def test_a_job_is_explained(client: Client) -> None:
    job_id = await client.enqueue("echo", queue="mail")
    await client.queues.pause("mail", "no post today")
    paused, unserved = await client.jobs.explain(job_id)
    assert isinstance(paused, Explanation)
    assert (paused.reason, unserved.reason, paused.until) == ("paused", "unserved", None)
    assert (paused.facts["queue"], paused.facts["reason"]) == ("mail", "no post today")
    with pytest.raises(UnknownJob):
        await client.jobs.explain(job_id + 1)


async def test_the_errors_of_a_job_are_told(database_url: str) -> None:
    async with open_client(database_url) as client:
        (job_id,) = await failed_jobs(client, database_url, 1)
        (error,) = await client.jobs.errors(job_id)
        assert (error.attempt, error.worker_id, error.type, error.message) == (1, "w1", "ValueError", "boom")
        with pytest.raises(UnknownJob):
            await client.jobs.errors(99)


@pytest.mark.parametrize("function", ["explain_job", "audit_jobs"])
def test_the_documentation_has_every_reason_and_finding(function: str) -> None:
    header = read_folder("functions")[function].split("-- Returns")[1].split("-- Errors")[0]
    names = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b|(?<=[ ,])[a-z]+(?=,)", header)) - {"job_id", "is_repaired", "end"}
    page = (Path(__file__).parents[5] / "docs" / "diagnosis.md").read_text()
    assert len(names) > 10
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []
