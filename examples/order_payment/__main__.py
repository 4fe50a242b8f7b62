"""`python -m examples.order_payment`: forty orders, one worker killed, leases ended early; then every cent is counted."""

from __future__ import annotations

from pathlib import Path

import trio

from examples.backstage import Backstage, show
from leasehold import NewJob, OpenTransaction

from . import app
from .handlers import QUEUE, charge
from .payment import ADDRESS
from .provider import FATES, Hold, Provider, open_provider

SCRIPTS = [Path(__file__).with_name(name) for name in ("schema.sql", "pause.sql")]
ORDERS = {number: 500 + 73 * number for number in range(1, 41)}
SUMS = """
select (select sum(cents) from shop.orders) as ordered, (select sum(cents) from shop.payments) as booked,
       (select count(*) from shop.payments) as payments, (select count(distinct order_id) from shop.payments) as paid,
       (select count(*) from shop.shipments) as parcels, (select count(distinct order_id) from shop.shipments) as shipped,
       (select count(*) from shop.payments where booked_by = 'charge_over_orm') as over_orm
"""
HELD_UP = "select 1 from pg_locks where locktype = 'advisory' and classid = 0 and objid = $1 and not granted"
KILLED_AT, CUT_AT = 7, 13
TOLD = ("claimed", "attempt_failed", "reaped", "completed")


async def perform(stage: Backstage) -> None:
    """Place the orders, disturb the workers, count the money."""
    with open_provider() as provider:
        stage.environ[ADDRESS] = provider.url
        cut = provider.hold(f"order-{CUT_AT}")
        chains = await take_orders(stage)
        async with stage.client.transaction() as gate:
            await gate.execute("select pg_advisory_xact_lock(0, $1)", KILLED_AT)
            await stage.start("worker.1", "worker.2", "worker.3", "reaper", "scheduler", queues=[QUEUE])
            stage.say("three workers charge the orders")
            await kill_worker(stage, gate, chains[KILLED_AT])
        await cut_leases(stage, cut, chains[CUT_AT])
        for chain in chains.values():
            await stage.client.wait(chain, kind=charge, timeout=60)
        stage.say("every chain has ended with its parcel\n")
        for order in (KILLED_AT, CUT_AT):
            print(f"  order {order}: {await tell(stage, chains[order])}")
        await count_money(stage, provider)


async def take_orders(stage: Backstage) -> dict[int, int]:
    """Insert the orders and enqueue their jobs in one commit; return the chain of each order."""
    async with stage.client.transaction() as tx:
        for script in SCRIPTS:
            await tx.execute(script.read_text())
        for order, cents in ORDERS.items():
            await tx.execute("insert into shop.orders values ($1, $2)", order, cents)
        jobs = [make_charge(order) for order in ORDERS]
        ids = await stage.client.enqueue_many(jobs, connection=tx)
    stage.say(f"{len(ORDERS)} orders and their jobs are one commit")
    return dict(zip(ORDERS, ids, strict=True))


def make_charge(order: int) -> NewJob:
    """The first job of an order. Every third order is paid over SQLAlchemy, if that is installed."""
    others = [kind for kind in app if kind.name == "charge_over_orm"]
    return others[0].new(order=order) if others and order % 3 == 0 else charge.new(order=order)


async def kill_worker(stage: Backstage, gate: OpenTransaction, chain: int) -> None:
    """Kill a worker with SIGKILL during the statement that books the payment; `gate` delays that statement."""

    async def is_held_up() -> bool:
        return bool(await gate.fetch(HELD_UP, KILLED_AT))

    await stage.until("the booking to begin", is_held_up)
    owner = (await stage.client.get(chain)).worker_id or ""
    await stage.troupe.players[owner].kill()
    stage.say(f"order {KILLED_AT}: the provider has the money, {owner} is booking it and gets SIGKILL")


async def cut_leases(stage: Backstage, hold: Hold, chain: int) -> None:
    """Take every held job away from live workers. One of them is waiting for the provider's answer."""
    await trio.to_thread.run_sync(hold.reached.wait, abandon_on_cancel=True)

    async def cut() -> str:
        owner = (await stage.client.get(chain)).worker_id
        if owner is None or not stage.troupe.players[owner].is_alive:
            return ""
        await stage.client.jobs.recover_stale(minutes=0.00001)
        reaped = {each.worker_id for each in await stage.client.jobs.timeline(chain) if each.event == "reaped"}
        return owner if owner in reaped else ""

    owner = await stage.until("the leases to be cut", cut)
    hold.free.set()
    stage.say(f"order {CUT_AT}: the provider has the money, {owner} waits for the answer, and all leases are cut")


async def tell(stage: Backstage, job: int) -> str:
    """The timeline of a job in one line."""
    entries = await stage.client.jobs.timeline(job)
    return " → ".join(f"{each.event} ({each.worker_id})" for each in entries if each.event in TOLD)


async def count_money(stage: Backstage, provider: Provider) -> None:
    """Check what the provider took, what the shop booked and what was shipped."""
    async with stage.client.transaction() as tx:
        [sums] = await tx.fetch(SUMS)
    for fate in FATES:
        print(f"  {provider.fates[fate]:3} × the provider {fate}")
    print(f"  payments booked over SQLAlchemy: {sums['over_orm']}")
    orders, cents = len(ORDERS), sum(ORDERS.values())
    stage.check("orders charged by the provider", len(provider.ledger), orders)
    stage.check("payments booked", sums["payments"], orders)
    stage.check("different orders among them", sums["paid"], orders)
    stage.check("parcels", sums["parcels"], orders)
    stage.check("different orders among them", sums["shipped"], orders)
    stage.check("cents ordered", sums["ordered"], cents)
    stage.check("cents charged", sum(provider.ledger.values()), cents)
    stage.check("cents booked", sums["booked"], cents)


if __name__ == "__main__":
    show(app, "examples.order_payment:app", perform)
