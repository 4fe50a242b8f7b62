from __future__ import annotations

from leasehold import Client, Fault
from leasehold.database import open_database
from tests.leasehold.client.conftest import Under
from tests.support.flavours import in_flavour


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
        found = await client.jobs.audit()
        assert all(isinstance(each, Fault) for each in found)
        assert {each.finding: each.is_repaired for each in found} == {"overdue": False, "two_tails": False}
        done = await client.jobs.audit(repair=True)
        assert {each.finding: each.is_repaired for each in done} == {"overdue": True, "two_tails": False}
        assert [each.finding for each in await client.jobs.audit(repair=True)] == ["unserved", "two_tails"]

    under(look)
