from __future__ import annotations

from uuid import uuid4

import pytest

from leasehold.database import Database
from leasehold.errors import EpochOver
from tests.support.epochs import begin_epoch, fail_over


async def test_a_claim_of_a_former_epoch_is_refused_and_says_what_to_do(database: Database) -> None:
    epoch = await begin_epoch(database)
    await database.call("enqueue_job", "echo")
    await fail_over(database)
    with pytest.raises(EpochOver, match=f"not in epoch {epoch} any more.*takes a new incarnation"):
        await database.call("claim_jobs", uuid4(), "w1", epoch=epoch)
    assert len(await database.call("claim_jobs", uuid4(), "w1", epoch=await begin_epoch(database))) == 1


async def test_a_claim_that_names_no_epoch_is_not_asked(database: Database) -> None:
    await database.call("enqueue_job", "echo")
    await fail_over(database)
    assert len(await database.call("claim_jobs", uuid4(), "w1")) == 1
