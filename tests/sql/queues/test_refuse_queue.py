from __future__ import annotations

from datetime import timedelta

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput

REFUSED = [
    (None, "queue is missing"),
    ("", "queue must have 1 to 200 bytes, not 0"),
    ("a,b", "queue has a comma, which stands between queues in settings: 'a,b'"),
    ("a\tb", "queue has a control character"),
    ("q" * 201, "queue must have 1 to 200 bytes, not 201"),
]
CALLS: list[tuple[str, tuple[object, ...]]] = [
    ("pause_queue", ()),
    ("resume_queue", ()),
    ("set_ageing", (timedelta(minutes=1),)),
    ("set_limit", ("", 3)),
    ("drop_limit", ()),
]


async def test_what_is_said_of_a_queue_is_refused_where_no_job_can_be_in_it(database: Database) -> None:
    for queue, complaint in REFUSED:
        for function, more in CALLS:
            with pytest.raises(BadInput, match=complaint):
                await database.call(function, queue, *more)
        if queue is not None:
            with pytest.raises(BadInput, match=complaint):
                await database.call("wake", queue)
    assert await database.call("list_queues") == []
