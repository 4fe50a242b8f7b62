from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_chains import goes_on
from tests.support.sql_schedules import create
from tests.support.sql_worker import SqlWorker


async def busy(database: Database) -> bool:
    return bool(await database.call_value("is_schedule_busy", 1))
