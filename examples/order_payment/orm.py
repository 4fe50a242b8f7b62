"""The same payment over a connection of your own: SQLAlchemy and psycopg, in a thread."""

from __future__ import annotations

import os
from functools import cache

import psycopg
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from leasehold import App, ContinueWith, Job, RetryPolicy

from .handlers import QUEUE, Parcel, ship
from .payment import Charge, take_money_sync

app = App()
COMPLETE = text(
    "select leasehold.complete_job(:job_id, :attempt, cast(:incarnation as uuid), cast(:output as jsonb),"
    " cast(:continuation as jsonb))"
)


class Base(DeclarativeBase):
    """The base of the shop's tables, which are in a schema of their own."""

    __table_args__ = {"schema": "shop"}  # noqa: RUF012


class Order(Base):
    """An order."""

    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    cents: Mapped[int]


class Payment(Base):
    """A payment. Only the mapper needs order_id as a primary key; the table has none."""

    __tablename__ = "payments"
    order_id: Mapped[int] = mapped_column(primary_key=True)
    cents: Mapped[int]
    receipt: Mapped[str]
    booked_by: Mapped[str]


@cache
def engine() -> Engine:
    """One pool for this worker. It uses leasehold's database, because one commit needs one database."""
    return create_engine(
        "postgresql+psycopg://",
        creator=lambda: psycopg.connect(os.environ["LEASEHOLD_DATABASE_URL"]),
        pool_pre_ping=True,
    )


@app.kind(queue=QUEUE, retry=RetryPolicy(initial=0.2, cap=1.0))
def charge_over_orm(job: Job, order: int) -> ContinueWith[Parcel]:
    """Take the money. Then book it, complete the job and create the job `ship`, in the commit of the session."""
    with Session(engine()) as session:
        cents = session.get_one(Order, order).cents
    receipt = take_money_sync(Charge(f"order-{order}", cents))
    end = job.continue_with(ship.new(order=order))
    with Session(engine()) as session, session.begin():
        session.add(Payment(order_id=order, cents=receipt.cents, receipt=receipt.number, booked_by="charge_over_orm"))
        session.flush()
        session.execute(COMPLETE, job.completion(continuation=end)._asdict())
    return end  # as anywhere else; the worker sees that the job is completed, and writes nothing
