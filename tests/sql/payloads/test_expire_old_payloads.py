from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_payloads import add


async def age(database: Database, payload_id: int, days: int) -> None:
    await database.fetch(
        "update leasehold.payloads set created_at = leasehold.clock() - make_interval(days => $2) where id = $1",
        payload_id,
        days,
    )


async def expired(database: Database, days: int = 30, **given: int) -> list[int]:
    return sorted(row["payload_id"] for row in await database.call("expire_old_payloads", days, **given))


async def test_what_is_older_is_hidden_and_told_until_it_is_deleted(database: Database) -> None:
    old, young = await add(database), await add(database)
    await age(database, old, 32)
    await age(database, young, 29)
    assert await expired(database) == [old]
    assert await expired(database) == [old]
    await database.call("delete_payloads", [old])
    assert await expired(database) == []


async def test_what_somebody_hid_and_did_not_delete_is_told_however_young(database: Database) -> None:
    payload_id = await add(database)
    await database.call("expire_payloads", [payload_id])
    assert await expired(database) == [payload_id]


async def test_the_args_and_outputs_of_a_job_stay_with_it(database: Database) -> None:
    job_id = await database.call_value("enqueue_job", "crawl")
    claim, saved = await add(database, job_id=job_id, is_claim=True), await add(database, job_id=job_id)
    await age(database, claim, 99)
    await age(database, saved, 99)
    assert await expired(database) == [saved]
    await database.call("delete_payloads", [saved])
    await database.call("cancel_job", job_id)
    assert await expired(database) == []
    await database.fetch("delete from leasehold.finished_jobs")
    assert await expired(database) == [claim]


async def test_with_the_retention_of_jobs_args_and_outputs_go_when_their_job_does(database: Database) -> None:
    job_id = await database.call_value("enqueue_job", "crawl")
    claim, saved = await add(database, job_id=job_id, is_claim=True), await add(database, job_id=job_id)
    await age(database, claim, 20)
    await age(database, saved, 20)
    assert await expired(database, keep_claims_days=14) == []
    await database.fetch("delete from leasehold.jobs")
    assert await expired(database, keep_claims_days=25) == []
    assert await expired(database, keep_claims_days=14) == [claim]


async def test_a_batch_is_as_large_as_asked(database: Database) -> None:
    for _ in range(3):
        await age(database, await add(database), 99)
    assert len(await expired(database, batch=2)) == 2
