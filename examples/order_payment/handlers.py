"""The kinds of jobs of the shop: charge, then ship."""

from __future__ import annotations

import msgspec

from leasehold import App, ContinueWith, Job, RetryPolicy

from .payment import Charge, take_money

app = App()
QUEUE = "shop"


class Parcel(msgspec.Struct, frozen=True):
    """The output of the chain of an order."""

    order: int
    parcel: int


@app.kind(runs="asyncio", queue=QUEUE, retry=RetryPolicy(initial=0.2, cap=1.0))
async def charge(job: Job, order: int) -> ContinueWith[Parcel]:
    """Take the money. Then book it, complete the job and create the job `ship`, in one commit."""
    async with job.prepare() as tx:
        [row] = await tx.fetch("select cents from shop.orders where id = $1", order)
    # From here to the commit we may die, time out or lose the lease. Whoever comes next asks with the same token.
    receipt = await take_money(Charge(f"order-{order}", row["cents"]))
    async with job.complete() as tx:
        values = (order, receipt.cents, receipt.number)
        await tx.execute("insert into shop.payments values ($1, $2, $3, 'charge')", *values)
    return job.continue_with(ship.new(order=order))


@app.kind(mode="atomic", queue=QUEUE)
async def ship(job: Job, order: int) -> Parcel:
    """Book the parcel. The handler is only SQL, so it is one transaction, which also completes the job."""
    [row] = await job.transaction.fetch("insert into shop.shipments (order_id) values ($1) returning parcel", order)
    return Parcel(order, row["parcel"])
