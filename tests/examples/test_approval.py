from __future__ import annotations

import pytest

from examples.approval.__main__ import SCHEMA
from examples.approval.handlers import PEOPLE, Decision, Expense, Outcome, Patience, app, submit
from leasehold.errors import WrongState
from leasehold.records.jobs import JobRecord
from tests.support.waiting import PATIENCE, eventually
from tests.support.working import Working, a_scheduler, working

LONG = Patience()
BIG = Expense("Ada", 300)


async def ask(running: Working, patience: Patience) -> tuple[int, JobRecord]:
    """Submit a big expense; returns its chain and the approval that waits for people."""
    await running.database.execute(SCHEMA.read_text())
    chain = await running.client.enqueue(submit.new(BIG, patience))

    async def asked() -> JobRecord | None:
        return next(iter(await running.client.jobs.list(queue=PEOPLE)), None)

    return chain, await eventually(asked)


async def test_a_decision_is_taken_once_and_by_the_first(database_url: str) -> None:
    async with working(database_url, app, queues=("expenses",)) as running:
        chain, approval = await ask(running, LONG)
        await running.client.chains.complete(approval.id, Decision(True, "Bo"))
        with pytest.raises(WrongState):
            await running.client.chains.complete(approval.id, Decision(False, "Cleo"))
        assert await running.client.wait(chain, kind=submit, timeout=PATIENCE) == Outcome(300, "Bo")


async def test_the_deadline_rejects_and_leaves_a_decision_alone(database_url: str) -> None:
    async with working(database_url, app, beside=[a_scheduler], queues=("expenses",)) as running:
        late, _ = await ask(running, Patience(remind=0.1))
        await eventually(lambda: running.database.fetch("select 1 from expenses.reminders"))
        [deadline] = await running.client.jobs.list(kind="reject_late")
        await running.client.jobs.trigger(deadline.id)
        assert await running.client.wait(late, kind=submit, timeout=PATIENCE) == Outcome(0, "the deadline")
        [reminder] = await running.client.jobs.list(kind="remind")
        assert (await running.finished(reminder.id)).output == "decided"
        assert not await running.database.fetch("select 1 from expenses.payouts")


async def test_the_deadline_of_what_is_decided_changes_nothing(database_url: str) -> None:
    async with working(database_url, app, queues=("expenses",)) as running:
        chain, approval = await ask(running, LONG)
        await running.client.chains.complete(approval.id, Decision(True, "Bo"))
        await running.client.wait(chain, timeout=PATIENCE)
        [deadline] = await running.client.jobs.list(kind="reject_late")
        await running.client.jobs.trigger(deadline.id)
        assert (await running.finished(deadline.id)).output == "decided"
        assert (await running.client.chains.get(approval.id)).output == {"approved": True, "by": "Bo"}


async def test_a_worker_that_serves_all_queues_leaves_the_approval_to_people(database_url: str) -> None:
    async with working(database_url, app) as running:
        chain, approval = await ask(running, LONG)
        assert (await running.in_state(approval.id, "scheduled")).attempt == 1
        await running.client.chains.complete(approval.id, Decision(True, "Bo"))
        assert await running.client.wait(chain, kind=submit, timeout=PATIENCE) == Outcome(300, "Bo")
