from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from leasehold import Client, Explanation, Fault, open_client
from leasehold.database import open_database
from leasehold.errors import UnknownJob
from leasehold.sql import read_folder
from tests.support.flavours import in_flavour

Under = Callable[[Callable[[Client], Awaitable[None]]], None]


@pytest.fixture(params=["trio", "asyncio"])
def under(request: pytest.FixtureRequest, database_url: str) -> Under:
    """Run work with a client as a program of that flavour would."""

    def run(work: Callable[[Client], Awaitable[None]]) -> None:
        async def main() -> None:
            async with open_client(database_url) as client:
                await work(client)

        in_flavour(request.param, main)

    return run


def test_a_job_is_explained(under: Under) -> None:
    async def work(client: Client) -> None:
        job_id = await client.enqueue("echo", queue="mail")
        await client.pause("mail", "no post today")
        paused, unserved = await client.explain(job_id)
        assert isinstance(paused, Explanation)
        assert (paused.reason, unserved.reason, paused.until) == ("paused", "unserved", None)
        assert (paused.facts["queue"], paused.facts["reason"]) == ("mail", "no post today")
        with pytest.raises(UnknownJob):
            await client.explain(job_id + 1)

    under(work)


async def break_rows(dsn: str) -> None:
    async with open_database(dsn) as database:
        await database.execute(
            "select leasehold.ensure_partitions();"
            "update leasehold.jobs set run_at = '2020-01-01Z' where state = 'scheduled';"
            "update leasehold.jobs set chain_id = 1, chain_position = 1 where state = 'pending'"
        )


def test_an_audit_finds_and_repairs_what_can_be(under: Under, database_url: str) -> None:
    async def work(client: Client) -> None:
        await client.enqueue("echo", delay=3600)
        await client.enqueue("echo")

    under(work)
    in_flavour("trio", lambda: break_rows(database_url))

    async def look(client: Client) -> None:
        found = await client.audit()
        assert all(isinstance(each, Fault) for each in found)
        assert {each.finding: each.is_repaired for each in found} == {"overdue": False, "two_tails": False}
        done = await client.audit(repair=True)
        assert {each.finding: each.is_repaired for each in done} == {"overdue": True, "two_tails": False}
        assert [each.finding for each in await client.audit(repair=True)] == ["unserved", "two_tails"]

    under(look)


@pytest.mark.parametrize("function", ["explain_job", "audit_jobs"])
def test_the_documentation_has_every_reason_and_finding(function: str) -> None:
    header = read_folder("functions")[function].split("-- Returns")[1].split("-- Errors")[0]
    names = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b|(?<=[ ,])[a-z]+(?=,)", header)) - {"job_id", "is_repaired", "end"}
    page = (Path(__file__).parents[3] / "docs" / "diagnosis.md").read_text()
    assert len(names) > 10
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []
