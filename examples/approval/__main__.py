"""`python -m examples.approval`: six expenses, four people who decide in four ways, and one expense that nobody decides."""

from __future__ import annotations

from pathlib import Path

from examples.backstage import Backstage, show
from leasehold import JobRecord

from . import app, people
from .handlers import PEOPLE, QUEUE, Decision, Expense, Outcome, Patience, submit

SCHEMA = Path(__file__).with_name("schema.sql")
SHORT = Patience(remind=0.5, reject=6.0)
EXPENSES = [
    Expense("Ida", 12),
    Expense("Ada", 300),
    Expense("Bo", 120),
    Expense("Cleo", 77),
    Expense("Dan", 2_500),
    Expense("Eve", 60),
]
EXPECTED = {
    "Ida": Outcome(12, "petty cash"),
    "Ada": Outcome(300, "python"),
    "Bo": Outcome(120, "command line"),
    "Cleo": Outcome(77, "http"),
    "Dan": Outcome(0, "sql"),
    "Eve": Outcome(0, "the deadline"),
}


async def perform(stage: Backstage) -> None:
    """Submit the expenses, let people decide, check the end."""
    async with stage.client.transaction() as tx:
        await tx.execute(SCHEMA.read_text())
    stage.environ["LEASEHOLD_GATEWAY_PORT"] = "0"
    await stage.start("worker.1", "worker.2", "gateway", "reaper", "scheduler", queues=[QUEUE])
    gateway = await stage.until("the gateway to be ready", stage.troupe.gateway_url) or ""
    ids = await stage.client.enqueue_many(
        [submit.new(each, SHORT if each.who == "Eve" else Patience()) for each in EXPENSES]
    )
    chains = {expense.who: job_id for expense, job_id in zip(EXPENSES, ids, strict=True)}
    stage.say(f"{len(chains)} expenses are submitted")
    await decide(stage, await find_approvals(stage), gateway)
    outcomes = {who: await stage.client.wait(chain, kind=submit, timeout=30) for who, chain in chains.items()}
    stage.say("every expense is settled\n")
    await check(stage, outcomes)


async def find_approvals(stage: Backstage) -> dict[str, int]:
    """The open approvals, by who asks: what a web page for the deciders would show."""

    async def all_there() -> list[JobRecord]:
        jobs = await stage.client.jobs.list(queue=PEOPLE, state="pending")
        return jobs if len(jobs) == len(EXPENSES) - 1 else []

    waiting = {job.args["expense"]["who"]: job.chain_id for job in await stage.until("the approvals", all_there)}
    stage.say(f"{len(waiting)} of them wait for people: {', '.join(sorted(waiting))}")
    return waiting


async def decide(stage: Backstage, approvals: dict[str, int], gateway: str) -> None:
    """Four people decide, each in another way; nobody decides about Eve."""
    stage.say("Ada: " + await people.with_python(stage.client, approvals["Ada"], Decision(True, "python")))
    stage.say("Bo: " + await people.with_command_line(stage.environ, approvals["Bo"], Decision(True, "command line")))
    stage.say("Cleo: " + await people.with_http(gateway, approvals["Cleo"], Decision(True, "http")))
    stage.say("Dan: " + await people.with_sql(stage.place.dsn, approvals["Dan"], Decision(False, "sql")))


async def check(stage: Backstage, outcomes: dict[str, Outcome]) -> None:
    """Check how each expense ended and what was paid."""
    for who, outcome in outcomes.items():
        stage.check(who, outcome, EXPECTED[who])
    async with stage.client.transaction() as tx:
        [paid] = await tx.fetch("select count(*) as times, sum(euros) as euros from expenses.payouts")
        [eve] = await tx.fetch("select count(*) as reminders from expenses.reminders where who = 'Eve'")
    stage.check("payouts", paid["times"], sum(each.paid > 0 for each in EXPECTED.values()))
    stage.check("euros paid", paid["euros"], sum(each.paid for each in EXPECTED.values()))
    print(f"    {eve['reminders']} reminders were written for Eve")
    stage.check("she was reminded more than once", eve["reminders"] > 1, True)


if __name__ == "__main__":
    show(app, "examples.approval:app", perform)
