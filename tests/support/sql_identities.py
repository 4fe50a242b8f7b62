"""Short ways to put egress identities into a database."""

from __future__ import annotations

from leasehold.database import Caller, Row
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def add(caller: Caller, name: str = "one", **fields: object) -> int:
    """Add an identity; `fields` as in add_identity."""
    told = {"user_agent": "Crawler/1", "accept_language": "de-DE,de", "locale": "de-DE", "time_zone": "Europe/Berlin"}
    added = await caller.call_value("add_identity", name, timeout=None, **(told | fields))
    assert isinstance(added, int)
    return added


async def take(caller: Caller, job: Row | None = None, worker: SqlWorker | None = None, **fields: object) -> Row:
    """Take an identity, for a held job or for a minute."""
    if job is not None and worker is not None:
        fields |= {"job_id": job["job_id"], "attempt": job["attempt"], "incarnation": worker.incarnation}
    [row] = await caller.call("take_identity", timeout=None, **fields)
    return row


async def give_back(caller: Caller, taken: Row, outcome: str | None = None, cool_for: float | None = None) -> str:
    """Return an identity; its state after that."""
    token = taken["lease_token"]
    return str(await caller.call_value("return_identity", taken["identity_id"], token, outcome, cool_for))


async def held_job(caller: Caller, worker: SqlWorker) -> Row:
    """A job that a new worker holds."""
    await worker.register()
    await enqueue(caller)
    return await worker.claim_one()
