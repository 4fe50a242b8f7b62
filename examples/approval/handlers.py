"""The kinds of jobs of an expense."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from leasehold import App, Client, ContinueWith, Job, JobTransaction, Reschedule

app = App()
QUEUE = "expenses"
PEOPLE = "people"
PETTY_EUROS = 50


class Expense(msgspec.Struct, frozen=True):
    """What somebody wants back."""

    who: str
    euros: int


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an approval is completed with."""

    approved: bool
    by: str


class Outcome(msgspec.Struct, frozen=True):
    """What the chain of an expense ends with."""

    paid: int
    decided_by: str


class Patience(msgspec.Struct, frozen=True):
    """Seconds: how often to remind, and when to give up."""

    remind: float = 86_400.0
    reject: float = 7 * 86_400.0


@app.kind(queue=QUEUE)
async def submit(job: Job, expense: Expense, patience: Patience) -> ContinueWith[Outcome]:
    """Pay small sums; for others ask people, and have two jobs see to it that they answer. All of it is one commit."""
    if expense.euros <= PETTY_EUROS:
        return job.continue_with(pay_out.new(expense, "petty cash"))
    job.start(
        remind.new(job.chain_id, expense.who, patience.remind).but(delay=patience.remind),
        reject_late.new(job.chain_id).but(delay=patience.reject),
    )
    return job.continue_with(settle.new(expense), blockers=[approval.new(expense)])


@app.kind(queue=PEOPLE)
async def approval(expense: Expense) -> Decision:
    """No worker serves the queue of the people. One that serves all queues puts the job back."""
    raise Reschedule(timedelta(days=1), "people decide this")


@app.kind(queue=QUEUE)
async def settle(job: Job, expense: Expense) -> Outcome | ContinueWith[Outcome]:
    """Starts when the approval is complete, whoever completed it."""
    [decision] = await job.blockers(Decision)
    if not decision.approved:
        return Outcome(0, decision.by)
    return job.continue_with(pay_out.new(expense, decision.by))


@app.kind(queue=QUEUE, mode="atomic")
async def pay_out(job: Job, expense: Expense, approved_by: str) -> Outcome:
    """The money leaves, once: the row and the end of the job are one commit."""
    values = (expense.who, expense.euros, approved_by)
    await job.transaction.execute("insert into expenses.payouts values ($1, $2, $3)", *values)
    return Outcome(expense.euros, approved_by)


@app.kind(queue=QUEUE)
async def remind(job: Job, request: int, who: str, every: float) -> str:
    """Write a reminder, and come back later, until somebody has decided."""
    async with job.prepare() as tx:
        if await find_approval(tx, request) is None:
            return "decided"
        await tx.execute("insert into expenses.reminders (who) values ($1)", who)
    raise Reschedule(every, "nobody has decided yet")


@app.kind(queue=QUEUE)
async def reject_late(job: Job, request: int) -> str:
    """The deadline. Should somebody decide at this very moment, the database lets one of the two through."""
    async with job.complete() as tx:
        waiting = await find_approval(tx, request)
        if waiting is None:
            return "decided"
        await Client(tx).chains.complete(waiting, Decision(False, "the deadline"))
    return "rejected"


async def find_approval(tx: JobTransaction, request: int) -> int | None:
    """The approval that the last job of this chain waits for now."""
    client = Client(tx)
    waits = await client.jobs.blockers((await client.chains.get(request)).job_id)
    return next((each.chain_id for each in waits if each.closed_at is None), None)
