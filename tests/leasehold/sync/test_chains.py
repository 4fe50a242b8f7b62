"""Chains over the synchronous client."""

from __future__ import annotations

import psycopg
import pytest

from leasehold import ContinueWith, NewJob
from leasehold.errors import UnknownJob, WrongState
from leasehold.sync.client import SyncClient


def test_a_chain_is_completed_continued_and_deleted(client: SyncClient) -> None:
    chain = client.enqueue("ask")
    waits = client.enqueue("tell", blockers=[chain])
    assert [job.id for job in client.chains.blocked_jobs(chain)] == [waits]
    [following] = client.chains.complete(chain, continue_with=NewJob(kind="answer"))
    assert [job.kind for job in client.chains.jobs(chain)] == ["ask", "answer"]
    ids = client.chains.complete(chain, continue_with=ContinueWith(NewJob(kind="last"), jobs=[NewJob(kind="aside")]))
    assert client.chains.get(chain).job_id == ids[-1] > following
    assert client.chains.complete(chain, {"approved": True}) == []
    assert client.wait(chain) == {"approved": True}
    assert client.get(waits).state == "pending"
    with pytest.raises(WrongState):
        client.chains.cancel(chain)
    assert sorted(client.chains.delete(waits, cascade=True)) == sorted([chain, waits])
    with pytest.raises(UnknownJob):
        client.chains.get(chain)


def test_a_chain_completes_in_the_transaction_of_the_caller(client: SyncClient, database_url: str) -> None:
    chain = client.enqueue("ask")
    with psycopg.connect(database_url) as connection:
        client.chains.complete(chain, {"text": 'a "quoted" word'}, connection=connection)
        assert client.chains.get(chain).state == "open"
        connection.rollback()
        client.chains.complete(chain, {"text": 'a "quoted" word'}, connection=connection)
    assert client.wait(chain, timeout=0) == {"text": 'a "quoted" word'}


def test_pages_follow_one_another(client: SyncClient) -> None:
    made = client.enqueue_many([NewJob(kind="ask", queue="people")] * 3)
    first = client.chains.list(queue="people", page_size=2)
    second = client.chains.list(queue="people", page_size=2, before_id=first[-1].chain_id)
    assert [each.chain_id for each in [*first, *second]] == [*reversed(made)]
