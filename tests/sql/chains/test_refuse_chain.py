from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownJob, WrongState
from tests.support.sql_chains import continued, ended
from tests.support.sql_worker import SqlWorker


async def test_a_chain_that_is_not_there_is_said_to_be_missing(database: Database) -> None:
    with pytest.raises(UnknownJob, match=r"there is no chain 7$"):
        await database.call("refuse_chain", 7, "completed")


async def test_a_later_job_of_a_chain_is_told_which_chain_it_belongs_to(database: Database, worker: SqlWorker) -> None:
    first, second = await continued(database, worker, "pay", "pack")
    with pytest.raises(UnknownJob, match=f"no chain {second}; that is a later job of chain {first}"):
        await database.call("refuse_chain", second, "completed")


async def test_a_chain_that_has_ended_is_said_to_be_in_the_wrong_state(database: Database, worker: SqlWorker) -> None:
    chain_id = await ended(database, worker, "failed")
    with pytest.raises(WrongState, match=f"chain {chain_id} is failed and cannot be cancelled"):
        await database.call("refuse_chain", chain_id, "cancelled")
