"""A connection goes back to its pool even where the caller is cancelled meanwhile, and its trouble is nobody's."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest

from leasehold.database.transactions import release


def test_trouble_of_a_release_that_is_cancelled_reaches_nobody(database_url: str) -> None:
    assert asyncio.run(complaints_of_a_cancelled_release(database_url)) == []


DRIVER: Any = asyncpg


async def complaints_of_a_cancelled_release(database_url: str) -> list[dict[str, Any]]:
    """What the loop has to say after a release was cancelled, and the reset behind it then ran out of time."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
    is_resetting, may_end = asyncio.Event(), asyncio.Event()

    async def reset(_connection: object) -> None:
        is_resetting.set()
        await may_end.wait()
        raise TimeoutError

    async with DRIVER.create_pool(database_url, min_size=0, max_size=1, reset=reset) as pool:
        releasing = asyncio.ensure_future(release(pool, await pool.acquire()))
        await is_resetting.wait()
        releasing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await releasing
        may_end.set()
    return complaints
