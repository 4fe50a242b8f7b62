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
    """The money that somebody wants back."""

    who: str
    euros: int


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The output of an approval."""

    approved: bool
    by: str


class Outcome(msgspec.Struct, frozen=True):
    """The output of the chain of an expense."""

    paid: int
    decided_by: str


class Patience(msgspec.Struct, frozen=True):
    """Seconds between reminders, and until the rejection."""

    remind: float = 86_400.0
    reject: float = 7 * 86_400.0


@app.kind(queue=QUEUE)
async def submit(job: Job, expense: Expense, patience: Patience) -> ContinueWith[Outcome]:
    """Pay small sums at once. For others ask people, and start the reminders and the deadline. All of it is one commit."""
    if expense.euros <= PETTY_EUROS:
        return job.continue_with(pay_out.new(expense, "petty cash"))
    job.start(
        remind.new(job.chain_id, expense.who, patience.remind).but(delay=patience.remind),
        reject_late.new(job.chain_id).but(delay=patience.reject),
    )
    return job.continue_with(settle.new(expense), blockers=[approval.new(expense)])


@app.kind(queue=PEOPLE)
async def approval(expense: Expense) -> Decision:
    """The question. No worker serves its queue; a worker that serves all queues puts the job back."""
    raise Reschedule(timedelta(days=1), "people decide this")


@app.kind(queue=QUEUE)
async def settle(job: Job, expense: Expense) -> Outcome | ContinueWith[Outcome]:
    """Pay or reject. Starts when somebody has completed the approval."""
    [decision] = await job.blockers(Decision)
    if not decision.approved:
        return Outcome(0, decision.by)
    return job.continue_with(pay_out.new(expense, decision.by))


@app.kind(queue=QUEUE, mode="atomic")
async def pay_out(job: Job, expense: Expense, approved_by: str) -> Outcome:
    """Pay exactly once: the row and the completion of the job are one commit."""
    values = (expense.who, expense.euros, approved_by)
    await job.transaction.execute("insert into expenses.payouts values ($1, $2, $3)", *values)
    return Outcome(expense.euros, approved_by)


@app.kind(queue=QUEUE)
async def remind(job: Job, request: int, who: str, every: float) -> str:
    """Write a reminder and run again later, until somebody has decided."""
    async with job.prepare() as tx:
        if await find_approval(tx, request) is None:
            return "decided"
        await tx.execute("insert into expenses.reminders (who) values ($1)", who)
    raise Reschedule(every, "nobody has decided yet")


@app.kind(queue=QUEUE)
async def reject_late(job: Job, request: int) -> str:
    """The deadline. If somebody decides at the same moment, the database accepts one of the two decisions."""
    async with job.complete() as tx:
        waiting = await find_approval(tx, request)
        if waiting is None:
            return "decided"
        await Client(tx).chains.complete(waiting, Decision(False, "the deadline"))
    return "rejected"


async def find_approval(tx: JobTransaction, request: int) -> int | None:
    """The chain of the approval that the last job of the chain `request` waits for; None if it was decided."""
    client = Client(tx)
    waits = await client.jobs.blockers((await client.chains.get(request)).job_id)
    return next((each.chain_id for each in waits if each.closed_at is None), None)
